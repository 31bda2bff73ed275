-- The tsquery that wants every word of a query or a word that begins with it; NULL if there is no word to look for.
--
-- Memories hold stems, so what begins a word may begin no stem: of vacation, vacat and vacation find vacations, vacati
-- does not. Namespaces that live from this take the configuration simple.
CREATE OR REPLACE FUNCTION pgrecall.prefix_words(languages regconfig[], query text)
RETURNS tsquery
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
BEGIN
    RETURN (
        SELECT string_agg(DISTINCT word.forms, ' & ')::tsquery
        FROM (
            SELECT '(' || string_agg(pgrecall.term_query(w.lexeme)::text || ':*', ' | ' ORDER BY w.lexeme) || ')'
                       AS forms
            FROM pgrecall.read_words(languages, query) w
            WHERE NOT w.is_stop_word
            GROUP BY w.place
        ) word
    );
END
$function$;

COMMENT ON FUNCTION pgrecall.prefix_words IS
    'The tsquery that wants every word of a query or a word that begins with it; NULL for stop words only.';
