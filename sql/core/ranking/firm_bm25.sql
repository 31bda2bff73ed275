-- Returns the BM25 score of a memory that holds every word of a query but its pronouns; NULL if they are all there is.
--
-- The two sums may hold the same numbers, added up in different orders: a difference below a millionth is rounding.
--
-- max_bm25  with the pronouns;  hollow  their idfs added up, NULL without any
CREATE OR REPLACE FUNCTION _pgrecall.firm_bm25(max_bm25 double precision, hollow double precision)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN max_bm25 - COALESCE(hollow, 0) > 1e-6 THEN max_bm25 - COALESCE(hollow, 0) END;
