-- Returns judged queries with words and a vector of the active model but none of another generation.
--
-- The embedder embeds them like memories. judged_change() uses them for its comparison.
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
