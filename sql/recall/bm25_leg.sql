-- Memories by BM25: the sum over the query's words of idf * impact, best first.
--
-- From the postings, in bounded time (bm25_postings). If that gives fewer than depth although some words have more
-- memories than were read, because a filter cuts deep, the filters and the words together are looked for without
-- postings (bm25_scan). The first is the same plan whatever the arguments, so it may be cached; the second is planned
-- with its arguments, by EXECUTE, since the filters decide which index is best.
--
-- terms       the query's lexemes
-- required    what else a memory has to match, such as a phrase; NULL: nothing
-- depth       how many memories at the most
-- budget      how many postings to read of each word
-- most_words  how many of the words count; the rarest do
CREATE OR REPLACE FUNCTION pgrecall.bm25_leg(
    namespace_id integer, terms text[], required tsquery, filter pgrecall.recall_filter,
    depth integer, budget integer, most_words integer
)
RETURNS TABLE (id bigint, rank integer, score double precision)
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 50
SET search_path FROM CURRENT
AS $function$
DECLARE
    settings pgrecall.impact_settings;
    words text[];
    idfs double precision[];
    any_word tsquery;
    common tsquery[];
    ids bigint[];
    scores double precision[];
BEGIN
    SELECT array_agg(w.term ORDER BY w.documents, w.term), array_agg(w.idf ORDER BY w.documents, w.term),
           array_agg(pgrecall.term_query(w.term)) FILTER (WHERE w.documents > budget)
    INTO words, idfs, common
    FROM pgrecall.query_words(namespace_id, terms, most_words) w;
    IF words IS NULL THEN
        RETURN;
    END IF;
    settings := pgrecall.impact_settings();
    any_word := pgrecall.any_term(words);

    SELECT array_agg(b.id), array_agg(b.score) INTO ids, scores
    FROM pgrecall.bm25_postings(
        namespace_id, words, idfs, any_word, common, required, filter, depth, budget, settings
    ) b;
    IF common IS NOT NULL AND COALESCE(cardinality(ids), 0) < depth THEN
        EXECUTE $statement$
            SELECT array_agg(b.id), array_agg(b.score)
            FROM pgrecall.bm25_scan($1, $2, $3, $4, $5, $6, $7, $8) b
        $statement$
        INTO ids, scores
        USING namespace_id, words, idfs, any_word, required, filter, depth, settings;
    END IF;

    RETURN QUERY
        SELECT f.id, (row_number() OVER (ORDER BY f.score DESC, f.id))::integer, f.score
        FROM unnest(ids, scores) f (id, score)
        ORDER BY f.score DESC, f.id;
END
$function$;

COMMENT ON FUNCTION pgrecall.bm25_leg IS
    'Memories by BM25, best first: from the best postings of each word, exactly where that gives too few.';
