-- Returns what the lexical leg contributes to a memory's relevance (leg_contribution): its score, as a share of norm, counts.
--
-- rank, score  of the memory in this leg;  NULL: not in its list
-- norm         the score that counts in full; NULL: no memory has a score, so none counts
CREATE OR REPLACE FUNCTION _pgrecall.lexical_part(
    fusion text, rrf_k double precision, weight double precision, total_weight double precision,
    rank integer, score double precision, norm double precision
)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN _pgrecall.leg_contribution(fusion, weight, total_weight, rank, least(COALESCE(score / norm, 0), 1), rrf_k);
