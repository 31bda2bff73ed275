-- Returns the words of a query by position, each with every lexeme under which a memory may hold it.
--
-- A word has one lexeme per language and, if it has accents, per way of stemming it. A memory that holds one of them
-- holds the word. A stop word of the query's own language is marked as one, whatever it is in the other languages.
-- Otherwise the few memories of another language that hold it would rank first, because the word is rare.
CREATE OR REPLACE FUNCTION _pgrecall.query_words_in_language(languages regconfig[], query text)
RETURNS TABLE (place integer, lexeme text, is_stop_word boolean)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE ROWS 20
SET search_path FROM CURRENT
AS $function$
DECLARE
    spelling text := _pgrecall.pretokenize(_pgrecall.normalize_text(query));
    plain text := _pgrecall.strip_accents(spelling);
BEGIN
    RETURN QUERY
        WITH content_word AS MATERIALIZED (
            SELECT at.place
            FROM unnest(to_tsvector(_pgrecall.guess_language(languages, spelling), spelling)) e
            CROSS JOIN LATERAL unnest(e.positions) AS at (place)
        ), form AS (
            -- A stem may have an accent that the word does not have: Turkish iuc becomes iuç.
            SELECT at.place, _pgrecall.strip_accents(e.lexeme) AS lexeme
            FROM unnest(languages) AS l (language)
            CROSS JOIN LATERAL unnest(to_tsvector(l.language, spelling)) e
            CROSS JOIN LATERAL unnest(e.positions) AS at (place)
            WHERE plain = spelling OR _pgrecall.keeps_accents(l.language)
            UNION
            SELECT at.place, e.lexeme
            FROM unnest(languages) AS l (language)
            CROSS JOIN LATERAL unnest(to_tsvector(l.language, plain)) e
            CROSS JOIN LATERAL unnest(e.positions) AS at (place)
        )
        SELECT f.place::integer, f.lexeme, f.place NOT IN (SELECT c.place FROM content_word c)
        FROM form f;
END
$function$;
