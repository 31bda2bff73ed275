-- Returns one leg's contribution to a score: weight share times normalised score (cc), or rrf().
--
-- fusion  cc or rrf
-- total   the sum of the weights of all legs in use
-- rank    the memory's rank in the leg's list; NULL: not in it
-- normal  its normalised score in the leg, 0 to 1
CREATE OR REPLACE FUNCTION _pgrecall.leg_contribution(
    fusion text, weight double precision, total double precision, rank integer, normal double precision,
    rrf_k double precision
)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN fusion = 'rrf' THEN _pgrecall.rrf(rank, weight, rrf_k) ELSE COALESCE(weight / NULLIF(total, 0) * normal, 0) END;

COMMENT ON FUNCTION _pgrecall.leg_contribution IS
    'Returns one leg''s contribution to a memory''s score, by convex combination or reciprocal rank fusion.';
