-- What a memory of usual length scores by BM25 that holds every word of a query once: the sum of their idf.
--
-- A word that no memory has counts as rare as can be: where most words of a query are unknown, the best score there is
-- says little. Characters of unspaced scripts are left out, since they overlap as n-grams. Of several languages the one
-- counts in which the query weighs least.
--
-- terms        the query's lexemes in all languages
-- words, idfs  those that the namespace knows, as query_words() gives them
-- documents    how many memories the namespace has
CREATE OR REPLACE FUNCTION _pgrecall.max_bm25(
    languages regconfig[], query text, terms text[], words text[], idfs double precision[], documents integer
)
RETURNS double precision
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    rarest double precision := ln(1 + (greatest(documents, 1) - 0.5) / 1.5)::double precision;
BEGIN
    RETURN (
        SELECT min(m.mass)
        FROM (
            SELECT sum(COALESCE(idfs[array_position(words, t.lexeme)], rarest)) AS mass
            FROM unnest(languages) l (language)
            CROSS JOIN LATERAL unnest(_pgrecall.analyze_text(l.language, query)) t
            WHERE t.lexeme = ANY (terms) AND t.lexeme !~ ('[' || _pgrecall.cjk_class() || ']')
            GROUP BY l.language
        ) m
    );
END
$function$;

COMMENT ON FUNCTION _pgrecall.max_bm25 IS
    'What a memory of usual length scores by BM25 that holds every word of a query once; unknown words count as rare.';
