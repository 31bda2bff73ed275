-- Returns EXPLAIN (ANALYZE, BUFFERS) of each search that recall() runs with the same arguments and settings: which index
-- each uses.
--
-- EXPLAIN SELECT * FROM recall(…) shows only a function scan. <leg>_plan() of each leg searches and asks which searches that took
-- (bm25_search, dense_search); each is then explained as the leg runs it: with a kept plan (explain_search), or planned with its
-- arguments. The plans of the ranking itself and of what prepares a search are not shown, nor the longer lists that collapse_duplicates may
-- ask for. A tenant cannot call it: buffers and rows count what is of others. Volatile, because EXPLAIN is not allowed in a stable
-- function.
--
-- The arguments are those of recall(). Of several namespaces each has its plans, one after the other.
CREATE OR REPLACE FUNCTION pgrecall.recall_plan(
    query text,
    query_vec pgvector.halfvec DEFAULT NULL,
    k integer DEFAULT NULL,
    namespace text DEFAULT NULL,
    categories text[] DEFAULT NULL,
    tags_any text[] DEFAULT NULL,
    tags_all text[] DEFAULT NULL,
    metadata_contains jsonb DEFAULT NULL,
    metadata_where jsonb DEFAULT NULL,
    sessions text[] DEFAULT NULL,
    speakers text[] DEFAULT NULL,
    sources text[] DEFAULT NULL,
    external_id_prefix text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    include_superseded boolean DEFAULT false,
    include_sensitive boolean DEFAULT true,
    timeframe tstzrange DEFAULT NULL,
    as_of timestamptz DEFAULT NULL,
    reference_time timestamptz DEFAULT NULL,
    strategy text DEFAULT NULL,
    fusion text DEFAULT NULL,
    sort_by text DEFAULT NULL,
    profile text DEFAULT NULL,
    min_similarity double precision DEFAULT NULL,
    min_score double precision DEFAULT NULL,
    mmr_lambda double precision DEFAULT NULL,
    collapse_duplicates boolean DEFAULT NULL,
    settings jsonb DEFAULT NULL,
    filter jsonb DEFAULT NULL,
    namespaces text[] DEFAULT NULL,
    namespace_weights jsonb DEFAULT NULL
)
RETURNS TABLE (plan text)
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    asked pgrecall.recall_filter := _pgrecall.memory_filter(
        recall_plan.categories, recall_plan.tags_any, recall_plan.tags_all, recall_plan.metadata_contains,
        recall_plan.metadata_where, recall_plan.sessions, recall_plan.speakers, recall_plan.sources,
        recall_plan.external_id_prefix, recall_plan.since, recall_plan.until, recall_plan.include_superseded,
        recall_plan.include_sensitive, recall_plan.timeframe, recall_plan.as_of, recall_plan.filter
    );
    several CONSTANT text[] := _pgrecall.asked_namespaces(recall_plan.namespace, recall_plan.namespaces);
    requests CONSTANT pgrecall.recall_request[] := _pgrecall.resolve_requests(
        recall_plan.query, recall_plan.query_vec, COALESCE(several, ARRAY[pgrecall.namespace_name(recall_plan.namespace)]),
        COALESCE(recall_plan.settings, '{}') || jsonb_strip_nulls(jsonb_build_object(
            'k', recall_plan.k, 'strategy', recall_plan.strategy, 'fusion', recall_plan.fusion, 'sort_by', recall_plan.sort_by,
            'profile', recall_plan.profile, 'min_similarity', recall_plan.min_similarity, 'min_score', recall_plan.min_score,
            'mmr_lambda', recall_plan.mmr_lambda, 'collapse_duplicates', recall_plan.collapse_duplicates
        )),
        asked, recall_plan.reference_time
    );
    request pgrecall.recall_request;
    moment CONSTANT timestamptz := COALESCE(recall_plan.reference_time, now());
    legs record;
BEGIN
    PERFORM _pgrecall.check_namespace_weights(recall_plan.namespace_weights, several);
    FOREACH request IN ARRAY requests LOOP
        CONTINUE WHEN NOT COALESCE(_pgrecall.may_read(request.namespace_id), false);
        asked.referring := _pgrecall.referring_memories(request.namespace_id, asked.timeframe);
        SELECT * INTO legs FROM _pgrecall.leg_inputs(request, asked, moment);

        IF legs.lexical_depth > 0 THEN
            RETURN QUERY SELECT * FROM _pgrecall.lexical_plan(
                request.namespace_id, request.parsed, legs.lexical_filter, legs.lexical_depth
            );
        END IF;
        IF legs.dense_depth > 0 THEN
            RETURN QUERY SELECT * FROM _pgrecall.dense_plan(
                request.namespace_id, request.query_vec, asked, legs.dense_depth, (request.settings).dense_exact_rows,
                (request.settings).generation, legs.has_passages
            );
        END IF;
        IF legs.graph_depth > 0 THEN
            RETURN QUERY SELECT * FROM _pgrecall.graph_plan(request, asked, moment);
        END IF;
    END LOOP;
END
$function$;
