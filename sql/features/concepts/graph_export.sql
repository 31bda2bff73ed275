-- Exports the concepts of a namespace and their edges, shared memories and relationships: one per row, concepts first.
--
-- Read it through a cursor: the result is as large as the graph. Two concepts share an edge if a memory mentions both;
-- memories that mention more than 50 concepts are ignored. Relationships carry their label and validity, including
-- those that have ended.
--
-- namespace     NULL: the current namespace; no rows if it does not exist
-- min_mentions  leaves out concepts with fewer mentions, and their edges
-- kind          in the result: concept, shared or relationship
-- id, target_id in the result: a concept, or the two ends of an edge
-- name          in the result: the concept's name or the relationship's label
-- weight        in the result: how many memories mention the concept, or both; for a relationship its
--               confidence, 0 to 1
CREATE OR REPLACE FUNCTION pgrecall.graph_export(namespace text DEFAULT NULL, min_mentions integer DEFAULT 2)
RETURNS TABLE (
    kind text, id bigint, target_id bigint, name text, type text, weight double precision, valid_from timestamptz,
    valid_to timestamptz, superseded_at timestamptz
)
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 10000
SET search_path FROM CURRENT
BEGIN ATOMIC
    WITH kept AS MATERIALIZED (
        SELECT c.id, c.name, c.type, count(DISTINCT m.memory_id) AS memories
        FROM pgrecall.concepts c
        LEFT JOIN pgrecall.mentions m ON m.concept_id = c.id
        WHERE c.namespace_id = pgrecall.namespace_id(namespace)
        GROUP BY c.id
        HAVING count(DISTINCT m.memory_id) >= min_mentions
    ), mentioned AS MATERIALIZED (
        SELECT d.memory_id, d.concept_id, count(*) OVER (PARTITION BY d.memory_id) AS concepts
        FROM (
            SELECT DISTINCT m.memory_id, m.concept_id
            FROM kept k
            JOIN pgrecall.mentions m ON m.concept_id = k.id
        ) d
    )
    SELECT 'concept', k.id, NULL::bigint, k.name, k.type, k.memories::double precision, NULL::timestamptz, NULL::timestamptz,
           NULL::timestamptz
    FROM kept k
    UNION ALL
    SELECT 'shared', a.concept_id, b.concept_id, NULL, NULL, count(*)::double precision, NULL, NULL, NULL
    FROM mentioned a
    JOIN mentioned b ON b.memory_id = a.memory_id AND b.concept_id > a.concept_id
    WHERE a.concepts <= 50
    GROUP BY a.concept_id, b.concept_id
    UNION ALL
    SELECT 'relationship', r.source_id, r.target_id, r.label, NULL, r.weight::double precision, r.valid_from, r.valid_to,
           r.superseded_at
    FROM kept s
    JOIN pgrecall.relationships r ON r.source_id = s.id
    JOIN kept t ON t.id = r.target_id
    -- Weight 0: memories say only that it has ended.
    WHERE s.id <> t.id AND r.weight > 0;
END;

ALTER FUNCTION pgrecall.graph_export OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.graph_export TO pgrecall_reader;
