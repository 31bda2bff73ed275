-- The tsquery that wants every word of a query, each in any language; NULL if there is no word to look for.
--
-- ending  '' for the words themselves, ':*' for whatever begins with them
CREATE OR REPLACE FUNCTION _pgrecall.match_all_words(languages regconfig[], query text, ending text DEFAULT '')
RETURNS tsquery
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
BEGIN
    RETURN (
        SELECT string_agg(DISTINCT word.forms, ' & ')::tsquery
        FROM (
            SELECT '(' || string_agg(_pgrecall.term_query(w.lexeme)::text || ending, ' | ' ORDER BY w.lexeme) || ')'
                       AS forms
            FROM _pgrecall.query_words_in_language(languages, query) w
            WHERE NOT w.is_stop_word
            GROUP BY w.place
        ) word
    );
END
$function$;

COMMENT ON FUNCTION _pgrecall.match_all_words IS
    'The tsquery that wants every word of a query, as it is or as a beginning; NULL for stop words only.';
