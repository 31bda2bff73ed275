-- The tsquery that wants any word of a query; NULL if there is no word to look for.
--
-- Pronouns are left out: BM25 knows how little they weigh, ts_rank does not.
CREATE OR REPLACE FUNCTION _pgrecall.match_any_word(languages regconfig[], query text)
RETURNS tsquery
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
BEGIN
    RETURN _pgrecall.match_any_term(ARRAY(
        SELECT t.term FROM unnest(_pgrecall.query_terms(languages, query)) AS t (term)
        WHERE t.term <> ALL ('{i0,me0,my0,you0,your0,we0,our0}')
    ));
END
$function$;

COMMENT ON FUNCTION _pgrecall.match_any_word IS 'The tsquery that wants any word of a query; NULL for stop words only.';
