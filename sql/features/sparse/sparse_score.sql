-- Returns how well a memory's sparse terms match the query: the sum of weight times idf. NULL without a query or without terms.
--
-- A set of one row, because the planner writes such a function into the query that calls it.
CREATE OR REPLACE FUNCTION _pgrecall.sparse_score(memory_id bigint, query pgvector.sparsevec)
RETURNS TABLE (score double precision)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 1
BEGIN ATOMIC
    SELECT CASE WHEN query IS NOT NULL THEN (
        SELECT -(s.weights OPERATOR(pgvector.<#>) query)
        FROM pgrecall.sparse_terms s
        WHERE s.memory_id = sparse_score.memory_id
        LIMIT 1
    ) END;
END;
