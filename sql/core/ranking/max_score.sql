-- Returns the highest score that the legs can reach: 1 with cc, a first rank in every leg with rrf.
--
-- If neither words nor a vector take part, only concepts find memories. They count as one leg of weight 1.
CREATE OR REPLACE FUNCTION _pgrecall.max_score(fusion text, total_weight double precision, rrf_k double precision)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN fusion = 'rrf' THEN COALESCE(NULLIF(total_weight, 0), 1) / (rrf_k + 1) ELSE 1 END;
