-- Every concept with its names, its counts of mentions and of memories about it, its dates, and its merges.
--
-- The counts are computed at query time: a stored counter would make all writers that mention a concept wait for each
-- other. Filter by one concept or namespace and select only the columns you need: columns that are not selected are not
-- computed.
--
-- first_seen, last_seen  by the event time of the memories, else by their storage time
-- merged                 [{"merge_id", "name", "method", "similarity"}], the merges that split_concept() can undo
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
