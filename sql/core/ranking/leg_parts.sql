-- Returns what each leg contributes to a memory's score: the lexical and the dense part of its relevance (leg_contribution).
--
-- A set of one row, because the planner writes such a function into the query that calls it, and computes each score once.
--
-- lexical_rank, dense_rank    its ranks in the lists of the legs; NULL: not in the list
-- lexical_score, dense_score  its normalised scores, 0 to 1
CREATE OR REPLACE FUNCTION _pgrecall.leg_parts(
    fusion text, rrf_k double precision, lexical_weight double precision, dense_weight double precision,
    lexical_rank integer, dense_rank integer, lexical_score double precision, dense_score double precision
)
RETURNS TABLE (lexical_part double precision, dense_part double precision)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 1
BEGIN ATOMIC
    SELECT _pgrecall.leg_contribution(fusion, lexical_weight, lexical_weight + dense_weight, lexical_rank, lexical_score, rrf_k),
           _pgrecall.leg_contribution(fusion, dense_weight, lexical_weight + dense_weight, dense_rank, dense_score, rrf_k);
END;
