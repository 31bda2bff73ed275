-- The highest score that legs can give together: 1 by convex combination, a first rank in each by reciprocal rank.
CREATE OR REPLACE FUNCTION pgrecall.top_score(fusion text, total double precision, rrf_k double precision)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN fusion = 'rrf' THEN total / (rrf_k + 1) ELSE 1 END;

COMMENT ON FUNCTION pgrecall.top_score IS 'The highest score that legs of some total weight can give together.';
