-- Returns what the legs contribute to a memory's relevance from its scores: <leg>_part() of each, and their sum. The graph leg adds
-- to the sum.
--
-- A set of one row, because the planner writes such a function into the query that calls it, and computes each score once.
--
-- lexical_weight …, total_weight  from leg_inputs()
-- lexical_rank, dense_rank    its ranks in the lists of the legs; NULL: not in the list
-- lexical_score, dense_score  its exact scores;  lexical_norm, dense_norm  what each leg measures them by
--
-- fused                       the sum of the parts
CREATE OR REPLACE FUNCTION _pgrecall.leg_parts(
    fusion text, rrf_k double precision, total_weight double precision, lexical_weight double precision, dense_weight double precision,
    lexical_rank integer, dense_rank integer, lexical_score double precision, dense_score double precision,
    lexical_norm double precision, dense_norm double precision
)
RETURNS TABLE (lexical_part double precision, dense_part double precision, fused double precision)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 1
BEGIN ATOMIC
    SELECT p.lexical_part, p.dense_part, p.lexical_part + p.dense_part
    FROM (
        SELECT _pgrecall.lexical_part(fusion, rrf_k, lexical_weight, total_weight, lexical_rank, lexical_score, lexical_norm),
               _pgrecall.dense_part(fusion, rrf_k, dense_weight, total_weight, dense_rank, dense_score, dense_norm)
    ) p (lexical_part, dense_part);
END;
