-- Every concept with its names, how many memories mention it or are about it, since when, and what was merged into it.
--
-- Counted when asked: a counter on a concept would have all who mention it wait for each other. Name one concept or one
-- namespace, and the columns that are needed: what is not asked for is not counted.
--
-- first_seen, last_seen  by the time of what memories tell, else of their storing
-- merged                 [{"merge_id", "name", "method", "similarity"}], what pgrecall.split_concept() takes back
CREATE OR REPLACE VIEW pgrecall.concept_overview WITH (security_invoker = true) AS
SELECT c.id, n.name AS namespace, c.name, c.type, c.type_confidence,
       ARRAY(SELECT a.alias FROM pgrecall.concept_aliases a WHERE a.concept_id = c.id ORDER BY a.alias) AS aliases,
       (SELECT count(DISTINCT m.memory_id) FROM pgrecall.mentions m WHERE m.concept_id = c.id) AS mentions,
       (SELECT count(DISTINCT m.memory_id) FROM pgrecall.mentions m WHERE m.concept_id = c.id AND m.is_about) AS about,
       (SELECT min(COALESCE(s.occurred_at, s.created_at)) FROM pgrecall.mentions m
        JOIN pgrecall.memories s ON s.id = m.memory_id WHERE m.concept_id = c.id) AS first_seen,
       (SELECT max(COALESCE(s.occurred_at, s.created_at)) FROM pgrecall.mentions m
        JOIN pgrecall.memories s ON s.id = m.memory_id WHERE m.concept_id = c.id) AS last_seen,
       (SELECT COALESCE(jsonb_agg(jsonb_build_object('merge_id', g.id, 'name', g.key, 'method', g.method, 'similarity', g.similarity)
                                  ORDER BY g.id), '[]')
        FROM pgrecall.concept_merges g WHERE g.concept_id = c.id AND g.split_at IS NULL) AS merged
FROM pgrecall.concepts c
JOIN pgrecall.namespaces n ON n.id = c.namespace_id;

COMMENT ON VIEW pgrecall.concept_overview IS
    'Every concept with its names, how many memories mention it or are about it, since when, and what was merged into it.';
