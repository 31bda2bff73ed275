-- Returns the BM25 score of a memory that holds every word of a query but its pronouns; NULL if they are all there is.
--
-- It counts the n-grams of scripts without spaces, which max_bm25 leaves out. Otherwise a memory with nothing of a Chinese question
-- but its last word would hold all of it. One that no memory has is as rare as the rarest of the query that one has, but counts half:
-- of the n-grams around a word, some straddle its neighbours, which differ from text to text.
--
-- The two sums may hold the same numbers, added up in different orders: a difference below a millionth is rounding.
--
-- hollow      the idfs of the pronouns added up, NULL without any
-- query_name  the query as normalize_name() writes it
-- max_terms   how many words the query has at most; those beyond it may be the most frequent ones
CREATE OR REPLACE FUNCTION _pgrecall.firm_bm25(
    parsed pgrecall.parsed_query, hollow double precision, query_name text, max_terms integer
)
RETURNS double precision
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    unspaced CONSTANT text := '[' || _pgrecall.unspaced_class() || ']';
    highest double precision := COALESCE(parsed.max_bm25, 0) - COALESCE(hollow, 0);
    unknown integer;
    known record;
BEGIN
    IF octet_length(query_name) > length(query_name) AND query_name ~ unspaced THEN
        SELECT count(*)::integer AS terms, COALESCE(sum(w.idf), 0) AS idfs INTO known
        FROM unnest(parsed.words, parsed.idfs) w (word, idf)
        WHERE w.word ~ unspaced;
        SELECT count(*)::integer - known.terms INTO unknown
        FROM unnest(_pgrecall.analyze_text('pg_catalog.simple'::regconfig, query_name)) t
        WHERE t.lexeme ~ unspaced;
        highest := highest + known.idfs
            + 0.5 * greatest(least(unknown, max_terms - COALESCE(cardinality(parsed.words), 0)), 0)
            * COALESCE((SELECT max(i.idf) FROM unnest(parsed.idfs) i (idf)), 0);
    END IF;
    RETURN CASE WHEN highest > 1e-6 THEN highest END;
END
$function$;
