-- The plans of a recall, as EXPLAIN (ANALYZE) shows them: the whole statement, then what BM25 and the dense leg run.
--
-- EXPLAIN SELECT * FROM recall(…) shows a function scan and no more. This runs the very statements, read from the
-- functions' bodies, with the settings in force. Volatile, since EXPLAIN is allowed in no other.
CREATE OR REPLACE FUNCTION pgrecall.recall_plan(
    query text, query_vec halfvec DEFAULT NULL, k integer DEFAULT 10, namespace text DEFAULT NULL
)
RETURNS TABLE (plan text)
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    namespace_id integer := pgrecall.namespace_id(namespace);
    languages regconfig[] := pgrecall.query_languages(namespace);
    settings pgrecall.recall_settings := pgrecall.effective_settings();
    depth integer := greatest(settings.leg_depth, k);
    budget integer := pgrecall.postings_budget(settings, depth);
    explain CONSTANT text := 'EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) ';
    filter pgrecall.recall_filter;
    words text[];
    idfs double precision[];
    common tsquery[];
    is_small boolean;
BEGIN
    PERFORM pgrecall.check_query(query, query_vec, k);
    RETURN QUERY EXECUTE explain || pgrecall.statement_of('public.recall', 1)
        USING namespace_id, query, languages, query_vec, k, filter, settings,
              pgrecall.hub_threshold(namespace_id, settings), pgrecall.phrase_words(languages, query);

    SELECT array_agg(w.term), array_agg(w.idf), array_agg(pgrecall.term_query(w.term)) FILTER (WHERE w.is_common)
    INTO words, idfs, common
    FROM (
        SELECT w.term, w.idf, w.documents > budget AS is_common
        FROM pgrecall.query_words(namespace_id, pgrecall.query_terms(languages, query), settings.lexical_terms) w
        ORDER BY w.documents, w.term
    ) w;
    IF settings.lexical_mode = 'bm25' AND words IS NOT NULL THEN
        RETURN QUERY SELECT * FROM unnest(ARRAY['', 'bm25_leg, from the postings:']);
        RETURN QUERY EXECUTE explain || 'SELECT * FROM pgrecall.bm25_postings($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)'
            USING namespace_id, words, idfs, pgrecall.any_term(words), common, NULL::tsquery, filter, depth, budget,
                  pgrecall.impact_settings();
    END IF;
    IF query_vec IS NOT NULL THEN
        is_small := pgrecall.namespace_size(namespace_id, settings.dense_exact_rows + 1) <= settings.dense_exact_rows;
        RETURN QUERY SELECT * FROM unnest(ARRAY['', CASE
            WHEN is_small THEN 'dense_leg, exactly (a small namespace):' ELSE 'dense_leg, as the planner sees fit:'
        END]);
        RETURN QUERY EXECUTE explain || pgrecall.statement_of('pgrecall.dense_leg', CASE WHEN is_small THEN 2 ELSE 1 END)
            USING namespace_id, query_vec, filter, depth;
    END IF;
END
$function$;

COMMENT ON FUNCTION pgrecall.recall_plan IS
    'EXPLAIN (ANALYZE, BUFFERS) of the statements a recall runs, those of BM25 and the dense leg included: which index each uses.';
