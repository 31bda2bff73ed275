-- unembedded_judged: judged queries that have words and a vector of the active model, but none of another generation's.
--
-- What they have in common with memories: they are embedded where those are. judged_change() compares by them.
CREATE OR REPLACE FUNCTION pgrecall.unembedded_judged(generation integer)
RETURNS TABLE (namespace text, query_id text, query text)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 100
BEGIN ATOMIC
    SELECT n.name, q.query_id, q.query
    FROM pgrecall.generations made
    JOIN pgrecall.generations active ON active.state = 'active'
    JOIN pgrecall.judged_vectors v ON v.embedding_model_id = active.model_id
    JOIN pgrecall.judged_queries q ON q.namespace_id = v.namespace_id AND q.query_id = v.query_id
    JOIN pgrecall.namespaces n ON n.id = q.namespace_id
    WHERE made.id = unembedded_judged.generation AND q.query ~ '[^[:space:]]'
      AND NOT EXISTS (
          SELECT FROM pgrecall.judged_vectors o
          WHERE o.namespace_id = q.namespace_id AND o.query_id = q.query_id AND o.embedding_model_id = made.model_id
      )
    ORDER BY n.name, q.query_id;
END;

COMMENT ON FUNCTION pgrecall.unembedded_judged IS
    'Judged queries that have words and a vector of the active model, but none of another generation''s.';
