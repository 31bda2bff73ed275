-- The highest score that legs can give together: 1 by convex combination, a first rank in each by reciprocal rank.
--
-- Where neither words nor vector take part, concepts alone find: as one leg of weight 1 would.
CREATE OR REPLACE FUNCTION _pgrecall.max_score(fusion text, total double precision, rrf_k double precision)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN fusion = 'rrf' THEN COALESCE(NULLIF(total, 0), 1) / (rrf_k + 1) ELSE 1 END;

COMMENT ON FUNCTION _pgrecall.max_score IS 'The highest score that legs of some total weight can give together.';
