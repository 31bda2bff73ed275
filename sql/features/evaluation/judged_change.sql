-- Compares how well the active generation of embeddings and another one answer each judged query.
--
-- Covers the queries of every namespace that have a vector of both models. judged_recall() defines the measure.
--
-- generation  the other generation;  before, after  recall_at_k with the active generation, and with the other
--
-- Errors  22023 k outside 1..500
CREATE OR REPLACE FUNCTION pgrecall.judged_change(generation integer, k integer DEFAULT 10)
RETURNS TABLE (namespace text, query_id text, before double precision, after double precision)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 100
BEGIN ATOMIC
    SELECT n.name, old.query_id, old.recall_at_k, new.recall_at_k
    FROM pgrecall.generations made
    JOIN pgrecall.generations active ON active.state = 'active' AND active.id <> made.id
    JOIN pgrecall.namespaces n ON EXISTS (SELECT FROM pgrecall.judged_queries q WHERE q.namespace_id = n.id)
    CROSS JOIN LATERAL pgrecall.judged_recall(n.name, judged_change.k, active.id) old
    JOIN LATERAL pgrecall.judged_recall(n.name, judged_change.k, made.id) new ON new.query_id = old.query_id
    WHERE made.id = judged_change.generation
      AND EXISTS (
          SELECT FROM pgrecall.judged_vectors v
          WHERE v.namespace_id = n.id AND v.query_id = old.query_id AND v.embedding_model_id = active.model_id
      )
      AND EXISTS (
          SELECT FROM pgrecall.judged_vectors v
          WHERE v.namespace_id = n.id AND v.query_id = old.query_id AND v.embedding_model_id = made.model_id
      )
    ORDER BY n.name, old.query_id;
END;
