-- Returns the share of the k memories nearest to a text that the active generation and another one have in common.
--
-- Compares the lists of the dense leg as configured, in the namespace of the memory that the text is from, without that
-- memory.
--
-- before, after  the text's embedding by the active generation's model, and by the other's
-- generation     the other generation
CREATE OR REPLACE FUNCTION pgrecall.dense_overlap(
    memory_id bigint, before pgvector.halfvec, after pgvector.halfvec, generation integer, k integer DEFAULT 10
)
RETURNS double precision
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    WITH asked AS (
        SELECT m.namespace_id, s.dense_exact_rows AS exact_rows
        FROM pgrecall.memories m CROSS JOIN _pgrecall.effective_settings() s WHERE m.id = dense_overlap.memory_id
    ), old AS (
        SELECT d.id FROM asked a
        CROSS JOIN LATERAL _pgrecall.dense_leg(
            a.namespace_id, dense_overlap.before, NULL, dense_overlap.k + 1, a.exact_rows, pgrecall.active_generation()
        ) d
        WHERE d.id <> dense_overlap.memory_id ORDER BY d.rank LIMIT dense_overlap.k
    ), new AS (
        SELECT d.id FROM asked a
        CROSS JOIN LATERAL _pgrecall.dense_leg(
            a.namespace_id, dense_overlap.after, NULL, dense_overlap.k + 1, a.exact_rows, dense_overlap.generation
        ) d
        WHERE d.id <> dense_overlap.memory_id ORDER BY d.rank LIMIT dense_overlap.k
    )
    SELECT (SELECT count(*) FROM old o JOIN new n ON n.id = o.id)::double precision
           / NULLIF(greatest((SELECT count(*) FROM old), (SELECT count(*) FROM new)), 0);
END;
