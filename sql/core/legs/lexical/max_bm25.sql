-- Returns the BM25 score of a memory of average length that holds every query term once: the sum of their idf. Unknown
-- terms count as rare.
--
-- A term that no memory has counts as maximally rare: if most query terms are unknown, even the best score is weak
-- evidence. Scripts without spaces are left out, because their n-grams overlap. With several languages, the
-- lowest sum counts; English pronouns are in each of them, for they are taken out again where they say nothing (firm_bm25).
--
-- terms        the query's lexemes in all languages
-- words, idfs  the terms that occur in the namespace, from query_term_weights();  max_terms  how many it returns at most
-- documents    number of memories in the namespace
CREATE OR REPLACE FUNCTION _pgrecall.max_bm25(
    languages regconfig[], query text, terms text[], words text[], idfs double precision[], documents integer, max_terms integer
)
RETURNS double precision
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    unspaced CONSTANT text := '[' || _pgrecall.unspaced_class() || ']';
    rarest CONSTANT double precision := ln(1 + (greatest(documents, 1) - 0.5) / 1.5)::double precision;
    -- Beyond the limit these may be the most frequent words, of which nothing is known.
    most_unknown CONSTANT integer := greatest(max_terms - COALESCE(cardinality(words), 0), 0);
BEGIN
    -- In one language the terms are those of the query: it need not be analyzed again.
    IF cardinality(languages) = 1 THEN
        RETURN (
            SELECT COALESCE(sum(t.idf), 0) + rarest * least(count(*) FILTER (WHERE t.idf IS NULL), most_unknown)
            FROM (SELECT idfs[array_position(words, u.lexeme)] AS idf FROM unnest(terms) u (lexeme) WHERE u.lexeme !~ unspaced) t
            HAVING count(*) > 0
        );
    END IF;
    RETURN (
        SELECT min(m.idf_sum)
        FROM (
            SELECT COALESCE(sum(t.idf), 0) + rarest * least(count(*) FILTER (WHERE t.idf IS NULL), most_unknown) AS idf_sum
            FROM (
                SELECT l.language, idfs[array_position(words, a.lexeme)] AS idf
                FROM unnest(languages) l (language)
                CROSS JOIN LATERAL (
                    SELECT v.lexeme FROM unnest(_pgrecall.analyze_text(l.language, query)) v WHERE v.lexeme = ANY (terms)
                    UNION
                    SELECT p.lexeme FROM unnest(_pgrecall.pronoun_lexemes()) p (lexeme) WHERE p.lexeme = ANY (terms)
                ) a
                WHERE a.lexeme !~ unspaced
            ) t
            GROUP BY t.language
        ) m
    );
END
$function$;
