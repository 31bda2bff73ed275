-- Returns the memories that state facts that hold now: those of some concepts, and those that some memories state.
--
-- One memory for each fact, the newest. At most 200 relationships of a concept each way are read, and 20 memories of each.
--
-- ends_at  when the fact ends; NULL: open
CREATE OR REPLACE FUNCTION _pgrecall.page_facts(
    namespace_id integer, concepts bigint[], memories bigint[], filter pgrecall.recall_filter
)
RETURNS TABLE (memory_id bigint, statement text, ends_at timestamptz)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 50
BEGIN ATOMIC
    WITH near AS MATERIALIZED (
        SELECT r.id
        FROM unnest(concepts) c (id)
        CROSS JOIN LATERAL (
            (SELECT s.id FROM pgrecall.relationships s WHERE s.source_id = c.id ORDER BY s.id DESC LIMIT 200)
            UNION ALL
            (SELECT t.id FROM pgrecall.relationships t WHERE t.target_id = c.id ORDER BY t.id DESC LIMIT 200)
        ) r
        UNION
        SELECT e.relationship_id
        FROM unnest(memories) m (id)
        CROSS JOIN LATERAL (
            SELECT x.relationship_id FROM pgrecall.relationship_evidence x WHERE x.memory_id = m.id
            ORDER BY x.relationship_id DESC LIMIT 20
        ) e
    ), stated AS (
        SELECT DISTINCT ON (r.source_id, r.label, r.target_id) e.memory_id, e.statement, r.valid_to AS ends_at
        FROM near n
        CROSS JOIN LATERAL (
            SELECT x.id, x.source_id, x.label, x.target_id, x.valid_to
            FROM pgrecall.relationships x
            -- Weight 0: memories say only that it has ended.
            WHERE x.id = n.id AND x.namespace_id = page_facts.namespace_id AND x.source_id <> x.target_id AND x.weight > 0
              AND _pgrecall.is_valid_at(x.valid_from, x.valid_to, now())
            LIMIT 1
        ) r
        CROSS JOIN LATERAL (
            SELECT v.memory_id, v.statement FROM pgrecall.relationship_evidence v
            WHERE v.relationship_id = r.id
            ORDER BY v.memory_id DESC LIMIT 20
        ) e
        CROSS JOIN LATERAL (
            SELECT FROM pgrecall.memories m
            WHERE m.id = e.memory_id AND m.namespace_id + 0 = page_facts.namespace_id AND _pgrecall.matches_filter(m, filter)
            LIMIT 1
        ) m
        ORDER BY r.source_id, r.label, r.target_id, e.memory_id DESC, (e.statement IS NULL)
    )
    SELECT DISTINCT ON (s.memory_id) s.memory_id, s.statement, s.ends_at
    FROM stated s
    ORDER BY s.memory_id, (s.statement IS NULL), s.ends_at, s.statement;
END;
