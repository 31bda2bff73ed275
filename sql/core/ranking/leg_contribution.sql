-- Returns one leg's contribution to a memory's score, by convex combination or reciprocal rank fusion.
--
-- With fusion cc it is the leg's share of the weight times the normalised score, with rrf weight / (rrf_k + rank).
--
-- fusion            cc or rrf
-- total_weight      the sum of the weights of all legs in use
-- rank              the memory's rank in the leg's list; NULL: not in it
-- normalised_score  its normalised score in the leg, 0 to 1
CREATE OR REPLACE FUNCTION _pgrecall.leg_contribution(
    fusion text, weight double precision, total_weight double precision, rank integer, normalised_score double precision,
    rrf_k double precision
)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN fusion = 'rrf' THEN _pgrecall.rrf(rank, weight, rrf_k)
            ELSE COALESCE(weight / NULLIF(total_weight, 0) * normalised_score, 0) END;
