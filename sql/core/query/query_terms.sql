-- Returns the distinct lexemes of a query in all languages of a namespace, without the stop words of its own language: the
-- terms that BM25 scores.
--
-- They are the lexemes that analyze_text() gives a memory, without the stop words of the query's own language. Those
-- may be ordinary words in memories of another language, and every German memory has für as fur.
CREATE OR REPLACE FUNCTION _pgrecall.query_terms(languages regconfig[], query text)
RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    stop_words text[] := '{}'::text[];
BEGIN
    IF cardinality(languages) > 1 OR octet_length(query) > length(query) THEN
        stop_words := ARRAY(
            SELECT w.lexeme FROM _pgrecall.query_words_in_language(languages, query) w
            GROUP BY w.lexeme
            HAVING bool_and(w.is_stop_word)
        );
    END IF;
    RETURN ARRAY(
        SELECT DISTINCT term.lexeme
        FROM unnest(languages) AS l (language)
        CROSS JOIN LATERAL unnest(_pgrecall.analyze_text(l.language, query)) AS term
        WHERE term.lexeme <> ALL (stop_words)
        ORDER BY term.lexeme
    );
END
$function$;
