-- Returns facts about the concepts that a query names: their current relationships, the most trusted, highest weight and newest first.
--
-- With as_of in the filter, an end that was known later is none. The concept of who asks is among them if the query says "my".
--
-- A fact is visible if one of the memories that are its evidence matches the filter, or if it has no evidence. At most
-- a thousand relationships per concept and direction are read, which bounds the cost of a hub.
--
-- k  maximum number of facts
CREATE OR REPLACE FUNCTION _pgrecall.query_facts(
    namespace_id integer, query text, filter pgrecall.recall_filter, k integer
)
RETURNS TABLE (relationship_id bigint, fact text, valid_from timestamptz, origin pgrecall.memory_origin)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 10
BEGIN ATOMIC
    WITH relationship AS (
        -- A fact stated with several names of a concept is one fact.
        SELECT DISTINCT ON (r.source_id, r.label, r.target_id) r.id, r.source_id, r.target_id, r.label,
               r.weight, r.valid_from, r.valid_to, r.recorded_at, r.origin
        FROM (
            SELECT q.concept_id FROM _pgrecall.query_concepts(query_facts.namespace_id, query_facts.query) q
            UNION
            SELECT a.concept_id
            FROM _pgrecall.asking_concepts(query_facts.namespace_id, query_facts.query, (query_facts.filter).speakers) a
        ) c
        CROSS JOIN LATERAL (
            (SELECT s.* FROM pgrecall.relationships s WHERE s.source_id = c.concept_id LIMIT 1000)
            UNION ALL
            (SELECT t.* FROM pgrecall.relationships t WHERE t.target_id = c.concept_id LIMIT 1000)
        ) r
        -- Without weight it is one of several that a statement of an end may mean.
        WHERE r.source_id <> r.target_id AND r.weight > 0
          AND _pgrecall.is_valid_at(
              r.valid_from,
              CASE WHEN (query_facts.filter).as_of IS NULL THEN r.valid_to
                   ELSE _pgrecall.end_known_at(r.id, r.valid_to, r.superseded_at, (query_facts.filter).as_of) END,
              COALESCE((query_facts.filter).as_of, now())
          )
        ORDER BY r.source_id, r.label, r.target_id, r.origin DESC, r.weight DESC, r.id
    )
    SELECT n.id,
           -- As a memory states it: "lived in" is not "lives in".
           COALESCE((
               SELECT e.statement
               FROM pgrecall.relationship_evidence e
               JOIN pgrecall.memories m ON m.id = e.memory_id
               WHERE e.relationship_id = n.id AND e.statement IS NOT NULL AND m.namespace_id + 0 = query_facts.namespace_id
                 AND _pgrecall.matches_filter(m, query_facts.filter)
               ORDER BY e.memory_id DESC
               LIMIT 1
           ), concat_ws(
               ' ', (SELECT s.name FROM pgrecall.concepts s WHERE s.id = n.source_id), n.label,
               (SELECT t.name FROM pgrecall.concepts t WHERE t.id = n.target_id)
           )),
           n.valid_from, n.origin
    FROM relationship n
    -- Subqueries, one lookup per row: with joins the planner would read all evidence and all memories.
    WHERE COALESCE(
          (
              SELECT true
              FROM pgrecall.relationship_evidence e
              JOIN pgrecall.memories m ON m.id = e.memory_id
              WHERE e.relationship_id = n.id AND m.namespace_id + 0 = query_facts.namespace_id
                AND _pgrecall.matches_filter(m, query_facts.filter)
              LIMIT 1
          ),
          (SELECT false FROM pgrecall.relationship_evidence e WHERE e.relationship_id = n.id LIMIT 1),
          true
      )
    ORDER BY n.origin DESC, n.weight DESC, n.recorded_at DESC, n.id
    LIMIT query_facts.k;
END;
