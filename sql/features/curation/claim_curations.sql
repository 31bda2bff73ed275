-- Leases new memories to a worker for curation, oldest first, once they are extracted and embedded. Returns each with its
-- ticket for curate_claimed().
--
-- In each namespace the oldest first. Namespaces take turns, starting at a random one.
--
-- A memory without an embedding is claimed if no model is active or if its embedding was parked; it is then compared by
-- words. curate_claimed() requires the ticket. After five failed claims a memory is not claimed again.
--
-- batch  maximum number of memories;  lease  time until another worker may claim them
--
-- Errors  22023 batch or lease out of range
CREATE OR REPLACE FUNCTION pgrecall.claim_curations(worker uuid, batch integer DEFAULT 16, lease interval DEFAULT '5 minutes')
RETURNS TABLE (memory_id bigint, ticket bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 16
SET search_path FROM CURRENT
AS $function$
DECLARE
    active pgrecall.generations;
    start integer := floor(random() * (SELECT max(n.id) + 1 FROM pgrecall.namespaces n))::integer;
BEGIN
    PERFORM _pgrecall.check_claim(batch, lease);
    -- This lock keeps the column from being dropped.
    PERFORM FROM pgrecall.memories m WHERE false;
    SELECT g.* INTO active FROM pgrecall.generations g WHERE g.id = pgrecall.active_generation();
    -- Uses the column's name, as claim() does: embedding_of() takes whole rows, which the embedder's role may not read.
    RETURN QUERY EXECUTE format($statement$
        WITH RECURSIVE turn (namespace_id, place) AS (
            -- Namespaces with memories to curate, one index probe each: from $6 on, then from the first.
            SELECT $6 - 1, 0
            UNION ALL
            SELECT COALESCE(
                       (SELECT j.namespace_id FROM pgrecall.curation_jobs j
                        WHERE j.namespace_id > t.namespace_id ORDER BY j.namespace_id LIMIT 1),
                       CASE WHEN t.namespace_id >= $6 - 1 THEN -1 END
                   ),
                   t.place + 1
            FROM turn t
            WHERE t.namespace_id IS NOT NULL AND t.place <= $2
        ), home AS MATERIALIZED (
            SELECT t.namespace_id, min(t.place) AS place FROM turn t WHERE t.namespace_id >= 0 AND t.place > 0 GROUP BY t.namespace_id
            UNION ALL
            SELECT NULL, 0 WHERE EXISTS (SELECT FROM pgrecall.curation_jobs j WHERE j.namespace_id IS NULL)
        ), chosen AS MATERIALIZED (
            SELECT p.memory_id
            FROM home h
            CROSS JOIN LATERAL (
                SELECT o.memory_id, row_number() OVER (ORDER BY o.memory_id) AS place
                FROM (
                    SELECT j.memory_id
                    FROM pgrecall.curation_jobs j
                    JOIN pgrecall.memories m ON m.id = j.memory_id AND NOT m.is_sensitive
                    WHERE (j.namespace_id = h.namespace_id OR h.namespace_id IS NULL AND j.namespace_id IS NULL)
                      AND NOT _pgrecall.is_ahead(j.lease_expires_at) AND j.attempts < 5
                      AND (m.%1$I IS NOT NULL OR m.deleted_at IS NOT NULL OR $4
                           OR EXISTS (SELECT FROM pgrecall.embedding_failures f WHERE f.memory_id = m.id AND f.generation_id = $5))
                    ORDER BY j.memory_id
                    LIMIT $2
                ) o
            ) p
            ORDER BY p.place, h.place
            LIMIT $2
        ), free AS MATERIALIZED (
            SELECT j.memory_id
            FROM chosen c
            JOIN pgrecall.curation_jobs j ON j.memory_id = c.memory_id
            WHERE NOT _pgrecall.is_ahead(j.lease_expires_at)
            ORDER BY j.memory_id
            FOR UPDATE OF j SKIP LOCKED
        )
        UPDATE pgrecall.curation_jobs j
        SET worker_id = $1, lease_expires_at = clock_timestamp() + $3, attempts = j.attempts + 1,
            ticket = _pgrecall.random_ticket()
        FROM free f
        WHERE j.memory_id = f.memory_id
        RETURNING j.memory_id, j.ticket
    $statement$, active.column_name)
    USING worker, batch, lease, active.model_id IS NULL, active.id, start;
END
$function$;

ALTER FUNCTION pgrecall.claim_curations OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.claim_curations TO pgrecall_embedder;
