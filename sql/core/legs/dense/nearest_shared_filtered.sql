-- Returns those of a fixed number of entries of the HNSW index that are of a namespace and pass a filter, nearest first.
--
-- To be planned with its arguments (EXECUTE).
--
-- visits  number of entries (shared_visits)
CREATE OR REPLACE FUNCTION _pgrecall.nearest_shared_filtered(
    namespace_id integer, query_vec pgvector.halfvec, filter pgrecall.recall_filter, depth integer, generation integer, visits integer
)
RETURNS TABLE (id bigint, distance double precision)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 50
BEGIN ATOMIC
    SELECT (w.memory).id, w.distance
    FROM (
        SELECT m AS memory, _pgrecall.embedding_of(m, generation) OPERATOR(pgvector.<=>) query_vec AS distance
        FROM pgrecall.memories m
        WHERE m.deleted_at IS NULL AND _pgrecall.embedding_of(m, generation) IS NOT NULL
        ORDER BY _pgrecall.embedding_of(m, generation) OPERATOR(pgvector.<=>) query_vec
        LIMIT visits
    ) w
    WHERE (w.memory).namespace_id = nearest_shared_filtered.namespace_id AND _pgrecall.matches_filter(w.memory, filter)
    ORDER BY w.distance + 0, (w.memory).id
    LIMIT depth;
END;
