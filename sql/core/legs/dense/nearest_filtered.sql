-- Returns the embeddings of a namespace nearest to the query vector that pass a filter, by the index that the planner chooses.
--
-- To be planned with its arguments (EXECUTE): the planner chooses an index by what the filters leave. It takes a visit of the HNSW
-- index for eight times cheaper than one is beside reading an embedding from the table (measured), so it plans for 8 * depth rows;
-- the scan stops when row_number() has reached depth. Under a filter by time it plans for 24 * depth: the index that is read then
-- costs a third, and in a database of many tenants fewer memories are left than it expects. It may return fewer than depth.
CREATE OR REPLACE FUNCTION _pgrecall.nearest_filtered(
    namespace_id integer, query_vec pgvector.halfvec, filter pgrecall.recall_filter, depth integer, generation integer
)
RETURNS TABLE (id bigint, distance double precision)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 50
BEGIN ATOMIC
    SELECT n.id, n.distance
    FROM (
        SELECT w.id, w.distance, row_number() OVER () AS place
        FROM (
            SELECT m.id, _pgrecall.embedding_of(m, generation) OPERATOR(pgvector.<=>) query_vec AS distance
            FROM pgrecall.memories m
            WHERE m.namespace_id = nearest_filtered.namespace_id AND _pgrecall.embedding_of(m, generation) IS NOT NULL
              AND _pgrecall.matches_filter(m, filter)
            ORDER BY _pgrecall.embedding_of(m, generation) OPERATOR(pgvector.<=>) query_vec
            LIMIT depth * CASE WHEN _pgrecall.has_time_condition(filter) THEN 24 ELSE 8 END
        ) w
    ) n
    WHERE n.place <= depth;
END;
