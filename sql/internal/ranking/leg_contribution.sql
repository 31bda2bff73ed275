-- What one leg contributes to a memory's score: its share of the weights by convex combination, or rrf().
--
-- fusion  cc or rrf
-- total   the weights of all legs that take part
-- rank    its place in the leg's list; NULL: not in it
-- normal  its score on the leg, 0 to 1
CREATE OR REPLACE FUNCTION _pgrecall.leg_contribution(
    fusion text, weight double precision, total double precision, rank integer, normal double precision,
    rrf_k double precision
)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN fusion = 'rrf' THEN _pgrecall.rrf(rank, weight, rrf_k) ELSE COALESCE(weight / NULLIF(total, 0) * normal, 0) END;

COMMENT ON FUNCTION _pgrecall.leg_contribution IS 'What one leg contributes to a memory''s score, by convex combination or by reciprocal rank.';
