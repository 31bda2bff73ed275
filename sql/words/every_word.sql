-- The tsquery that wants every word of a query, each in any language; NULL if there is no word to look for.
CREATE OR REPLACE FUNCTION pgrecall.every_word(languages regconfig[], query text)
RETURNS tsquery
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
BEGIN
    RETURN (
        SELECT string_agg(DISTINCT word.forms, ' & ')::tsquery
        FROM (
            SELECT '(' || string_agg(pgrecall.term_query(w.lexeme)::text, ' | ' ORDER BY w.lexeme) || ')' AS forms
            FROM pgrecall.read_words(languages, query) w
            WHERE NOT w.is_stop_word
            GROUP BY w.place
        ) word
    );
END
$function$;

COMMENT ON FUNCTION pgrecall.every_word IS 'The tsquery that wants every word of a query; NULL for stop words only.';
