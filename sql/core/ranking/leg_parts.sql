-- Returns what the legs and the sparse terms contribute to a memory's relevance from its scores: <leg>_part() of each, and their sum.
-- The graph leg adds to the sum.
--
-- A set of one row, because the planner writes such a function into the query that calls it, and computes each score once.
--
-- lexical_weight …, total_weight  from leg_inputs()
-- lexical_rank, dense_rank    its ranks in the lists of the legs; NULL: not in the list
-- lexical_score, dense_score, sparse_score  its exact scores;  lexical_norm …  what each is measured by
--
-- fused                       the sum of the parts
CREATE OR REPLACE FUNCTION _pgrecall.leg_parts(
    fusion text, rrf_k double precision, total_weight double precision, lexical_weight double precision, dense_weight double precision,
    sparse_weight double precision, lexical_rank integer, dense_rank integer, lexical_score double precision,
    dense_score double precision, sparse_score double precision, lexical_norm double precision, dense_norm double precision,
    sparse_norm double precision
)
RETURNS TABLE (lexical_part double precision, dense_part double precision, sparse_part double precision, fused double precision)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 1
BEGIN ATOMIC
    SELECT p.lexical_part, p.dense_part, p.sparse_part, p.lexical_part + p.dense_part + p.sparse_part
    FROM (
        SELECT _pgrecall.lexical_part(fusion, rrf_k, lexical_weight, total_weight, lexical_rank, lexical_score, lexical_norm),
               _pgrecall.dense_part(fusion, rrf_k, dense_weight, total_weight, dense_rank, dense_score, dense_norm),
               CASE WHEN sparse_weight > 0 THEN _pgrecall.sparse_part(
                   sparse_weight, total_weight, sparse_score, sparse_norm, least(COALESCE(lexical_score / lexical_norm, 0), 1)
               ) ELSE 0 END
    ) p (lexical_part, dense_part, sparse_part);
END;
