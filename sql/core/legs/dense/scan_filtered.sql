-- Returns the embeddings of a namespace nearest to the query vector that pass a filter, exactly.
--
-- Adding zero keeps the planner from using the HNSW index. To be planned with its arguments (EXECUTE).
CREATE OR REPLACE FUNCTION _pgrecall.scan_filtered(
    namespace_id integer, query_vec pgvector.halfvec, filter pgrecall.recall_filter, depth integer, generation integer
)
RETURNS TABLE (id bigint, distance double precision)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 50
BEGIN ATOMIC
    SELECT m.id, _pgrecall.embedding_of(m, generation) OPERATOR(pgvector.<=>) query_vec AS distance
    FROM pgrecall.memories m
    WHERE m.namespace_id = scan_filtered.namespace_id AND _pgrecall.embedding_of(m, generation) IS NOT NULL
      AND _pgrecall.matches_filter(m, filter)
    ORDER BY (_pgrecall.embedding_of(m, generation) OPERATOR(pgvector.<=>) query_vec) + 0, m.id
    LIMIT depth;
END;
