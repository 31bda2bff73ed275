-- Builds the tsquery for web-search syntax: "quoted phrases", -minus, or; NULL if it has only stop words.
--
-- A word stands for its forms in all languages, so a minus excludes all of them. A token that the parser splits into
-- several words becomes a phrase: snake_case, e-mail, 東京都. No input is a syntax error.
CREATE OR REPLACE FUNCTION _pgrecall.match_websearch(languages regconfig[], query text)
RETURNS tsquery
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT SET standard_conforming_strings = on
AS $function$
DECLARE
    spelling text := _pgrecall.normalize_text(regexp_replace(query, '[\u201c-\u201f\u00ab\u00bb\uff02]', '"', 'g'));
    language regconfig := _pgrecall.guess_language(languages, _pgrecall.pretokenize(spelling));
BEGIN
    RETURN (
        WITH wanted AS (
            SELECT t.place, t.is_unwanted, count(*) FILTER (WHERE t.is_or) OVER (ORDER BY t.place) AS alternative,
                   CASE WHEN t.is_or IS NOT TRUE THEN _pgrecall.match_tokens(languages, language, t.text) END AS words
            FROM _pgrecall.websearch_tokens(spelling) t
        ), alternative AS (
            SELECT w.alternative AS place,
                   string_agg(
                       CASE WHEN w.is_unwanted THEN '!(' ELSE '(' END || w.words::text || ')', ' & ' ORDER BY w.place
                   ) AS words
            FROM wanted w
            WHERE w.words IS NOT NULL
            GROUP BY w.alternative
        )
        SELECT string_agg('(' || a.words || ')', ' | ' ORDER BY a.place)::tsquery FROM alternative a
    );
END
$function$;
