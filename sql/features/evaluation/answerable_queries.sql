-- Returns the judged queries of a namespace with their vector and the relevant memories that recall() can return.
--
-- A forgotten or superseded memory is not returned by recall(), so it does not count. A query without any other relevant
-- memory is left out.
--
-- model_id  the model of the vectors
CREATE OR REPLACE FUNCTION _pgrecall.answerable_queries(namespace_id integer, model_id integer)
RETURNS TABLE (
    query_id text, stratum text, query text, query_vec pgvector.halfvec, exclude bigint[], relevant bigint[],
    judged_by name, judged_at timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 100
BEGIN ATOMIC
    SELECT q.query_id, q.stratum, q.query,
           (SELECT v.query_vec FROM pgrecall.judged_vectors v
            WHERE v.namespace_id = q.namespace_id AND v.query_id = q.query_id
              AND v.embedding_model_id = answerable_queries.model_id),
           q.exclude, array_agg(j.memory_id), q.judged_by, q.judged_at
    FROM pgrecall.judged_queries q
    JOIN pgrecall.judgements j ON j.namespace_id = q.namespace_id AND j.query_id = q.query_id
    JOIN pgrecall.memories m ON m.id = j.memory_id
    WHERE q.namespace_id = answerable_queries.namespace_id AND j.is_useful AND _pgrecall.matches_filter(m, NULL)
    GROUP BY q.namespace_id, q.query_id;
END;
