-- Builds the tsquery that matches every word of a query, whole or as a prefix, each in any language; NULL if it has only
-- stop words.
--
-- ending  '' for whole words, ':*' for prefixes
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
