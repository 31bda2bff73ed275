-- Returns the EXPLAIN (ANALYZE, BUFFERS) output of each leg of a recall.
--
-- EXPLAIN SELECT * FROM recall(…) shows only a function scan. This function runs the statements of the legs with the
-- current settings. The graph leg starts from the best hits of the other legs. Volatile, because EXPLAIN is not allowed
-- in a stable function.
CREATE OR REPLACE FUNCTION pgrecall.recall_plan(
    query text, query_vec pgvector.halfvec DEFAULT NULL, k integer DEFAULT NULL, namespace text DEFAULT NULL
)
RETURNS TABLE (plan text)
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    request pgrecall.recall_request := _pgrecall.resolve_request(
        query, query_vec, namespace, jsonb_build_object('k', recall_plan.k)
    );
    settings pgrecall.recall_settings := request.settings;
    parsed pgrecall.parsed_query := request.parsed;
    depth integer := greatest(settings.leg_depth, settings.k);
    explain CONSTANT text := 'EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) ';
    filter pgrecall.recall_filter;
    seeds bigint[];
    levels double precision[];
    is_small boolean;
    exact_limit integer;
BEGIN
    IF parsed.words IS NOT NULL THEN
        RETURN QUERY SELECT * FROM unnest(ARRAY['lexical leg, from the postings:']);
        RETURN QUERY EXECUTE explain || 'SELECT * FROM _pgrecall.bm25_postings($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)'
            USING request.namespace_id, parsed.words, parsed.idfs, parsed.any_word, parsed.common, parsed.required,
                  filter, depth, greatest(200, 4 * depth), parsed.budget, parsed.impacts;
    END IF;
    IF query_vec IS NOT NULL THEN
        exact_limit := _pgrecall.dense_exact_limit(settings.dense_exact_rows, depth, pgvector.vector_dims(query_vec));
        is_small := _pgrecall.namespace_size(request.namespace_id, exact_limit + 1) <= exact_limit;
        RETURN QUERY SELECT * FROM unnest(ARRAY['', CASE
            WHEN is_small THEN 'dense leg, exactly (a small namespace):' ELSE 'dense leg, as the planner sees fit:'
        END]);
        RETURN QUERY EXECUTE explain || _pgrecall.function_statement('_pgrecall.dense_leg', CASE WHEN is_small THEN 3 ELSE 1 END)
            USING request.namespace_id, query_vec, filter, depth, settings.generation;
    END IF;
    IF settings.graph_weight > 0 THEN
        SELECT array_agg(r.id ORDER BY r.place), array_agg(r.relevance ORDER BY r.place) INTO seeds, levels
        FROM _pgrecall.rank_memories(request, filter, now()) r
        WHERE r.place <= settings.graph_seeds;
        RETURN QUERY SELECT * FROM unnest(ARRAY['', 'graph leg:']);
        RETURN QUERY EXECUTE explain || 'SELECT * FROM _pgrecall.graph_walk($1, $2, $3, $4, NULL, $5, $6, $7, $8, $9, $10, $11)'
            USING request.namespace_id, seeds, levels, filter, depth, settings.graph_concepts, settings.graph_hops,
                  settings.graph_decay, settings.hub_max_mentions, settings.graph_weight, settings.graph_mention;
    END IF;
END
$function$;

COMMENT ON FUNCTION pgrecall.recall_plan IS
    'Returns EXPLAIN (ANALYZE, BUFFERS) of each leg of a recall: which index each uses.';
