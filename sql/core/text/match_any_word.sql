-- Builds the tsquery that matches any word of a query; NULL if it has only stop words.
--
-- Pronouns are left out: ts_rank, unlike BM25, does not give common words less weight.
CREATE OR REPLACE FUNCTION _pgrecall.match_any_word(languages regconfig[], query text)
RETURNS tsquery
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
BEGIN
    RETURN _pgrecall.match_any_term(ARRAY(
        SELECT t.term FROM unnest(_pgrecall.query_terms(languages, query)) AS t (term)
        WHERE t.term <> ALL (_pgrecall.pronoun_lexemes())
    ));
END
$function$;
