-- The plans of a recall, as EXPLAIN (ANALYZE) shows them: how each of the three legs finds its memories.
--
-- EXPLAIN SELECT * FROM recall(…) shows a function scan and no more. This runs what the legs run, with the settings in
-- force; the graph leg from the best hits of the others. Volatile, since EXPLAIN is allowed in no other.
CREATE OR REPLACE FUNCTION pgrecall.recall_plan(
    query text, query_vec pgvector.halfvec DEFAULT NULL, k integer DEFAULT NULL, namespace text DEFAULT NULL
)
RETURNS TABLE (plan text)
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    question pgrecall.question := pgrecall.question(
        query, query_vec, namespace, jsonb_build_object('k', recall_plan.k)
    );
    settings pgrecall.recall_settings := question.settings;
    reading pgrecall.lexical_query := question.reading;
    depth integer := greatest(settings.leg_depth, settings.k);
    explain CONSTANT text := 'EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) ';
    filter pgrecall.recall_filter;
    seeds bigint[];
    levels double precision[];
    is_small boolean;
BEGIN
    IF reading.words IS NOT NULL THEN
        RETURN QUERY SELECT * FROM unnest(ARRAY['lexical leg, from the postings:']);
        RETURN QUERY EXECUTE explain || 'SELECT * FROM pgrecall.bm25_postings($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)'
            USING question.namespace_id, reading.words, reading.idfs, reading.any_word, reading.common, reading.required,
                  filter, depth, reading.budget, reading.impacts;
    END IF;
    IF query_vec IS NOT NULL THEN
        is_small := pgrecall.namespace_size(question.namespace_id, settings.dense_exact_rows + 1) <= settings.dense_exact_rows;
        RETURN QUERY SELECT * FROM unnest(ARRAY['', CASE
            WHEN is_small THEN 'dense leg, exactly (a small namespace):' ELSE 'dense leg, as the planner sees fit:'
        END]);
        RETURN QUERY EXECUTE explain || pgrecall.statement_of('pgrecall.dense_leg', CASE WHEN is_small THEN 2 ELSE 1 END)
            USING question.namespace_id, query_vec, filter, depth, settings.generation;
    END IF;
    IF settings.graph_weight > 0 THEN
        SELECT array_agg(r.id ORDER BY r.place), array_agg(r.relevance ORDER BY r.place) INTO seeds, levels
        FROM pgrecall.rank_memories(question, filter, now()) r
        WHERE r.place <= settings.graph_seeds;
        RETURN QUERY SELECT * FROM unnest(ARRAY['', 'graph leg:']);
        RETURN QUERY EXECUTE explain || 'SELECT * FROM pgrecall.graph_walk($1, $2, $3, $4, NULL, $5, $6, $7, $8, $9, $10, $11)'
            USING question.namespace_id, seeds, levels, filter, depth, settings.graph_concepts, settings.graph_hops,
                  settings.graph_decay, settings.graph_df_max, settings.graph_weight, settings.graph_mention;
    END IF;
END
$function$;

COMMENT ON FUNCTION pgrecall.recall_plan IS
    'EXPLAIN (ANALYZE, BUFFERS) of what the legs of a recall run: which index each uses.';
