-- Returns what the dense leg contributes to a memory's relevance (leg_contribution).
--
-- A memory without an embedding gets the candidates' mean score: a missing embedding says nothing about it.
--
-- rank, score  of the memory in this leg; NULL: not in its list, no embedding
-- norm         the candidates' mean score
CREATE OR REPLACE FUNCTION _pgrecall.dense_part(
    fusion text, rrf_k double precision, weight double precision, total_weight double precision,
    rank integer, score double precision, norm double precision
)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN _pgrecall.leg_contribution(fusion, weight, total_weight, rank, COALESCE(score, norm), rrf_k);
