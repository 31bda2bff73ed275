-- Returns the BM25 score of a memory of average length that holds every query term once: the sum of their idf. Unknown
-- terms count as rare.
--
-- A term that no memory has counts as maximally rare: if most query terms are unknown, even the best score is weak
-- evidence. Scripts without spaces are left out, because their n-grams overlap. With several languages, the
-- lowest sum counts.
--
-- terms        the query's lexemes in all languages
-- words, idfs  the terms that occur in the namespace, from query_term_weights()
-- documents    number of memories in the namespace
CREATE OR REPLACE FUNCTION _pgrecall.max_bm25(
    languages regconfig[], query text, terms text[], words text[], idfs double precision[], documents integer
)
RETURNS double precision
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    unspaced CONSTANT text := '[' || _pgrecall.cjk_class() || _pgrecall.syllabic_class() || ']';
    rarest double precision := ln(1 + (greatest(documents, 1) - 0.5) / 1.5)::double precision;
BEGIN
    -- In one language the terms are those of the query: it need not be analyzed again.
    IF cardinality(languages) = 1 THEN
        RETURN (
            SELECT sum(COALESCE(idfs[array_position(words, t.lexeme)], rarest))
            FROM unnest(terms) t (lexeme)
            WHERE t.lexeme !~ unspaced
        );
    END IF;
    RETURN (
        SELECT min(m.idf_sum)
        FROM (
            SELECT sum(COALESCE(idfs[array_position(words, t.lexeme)], rarest)) AS idf_sum
            FROM unnest(languages) l (language)
            CROSS JOIN LATERAL unnest(_pgrecall.analyze_text(l.language, query)) t
            WHERE t.lexeme = ANY (terms) AND t.lexeme !~ unspaced
            GROUP BY l.language
        ) m
    );
END
$function$;
