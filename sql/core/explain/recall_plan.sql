-- Returns EXPLAIN (ANALYZE, BUFFERS) of each search that recall() runs with the same arguments and settings: which index
-- each uses.
--
-- EXPLAIN SELECT * FROM recall(…) shows only a function scan. The legs search, and tell which searches that took (bm25_search,
-- dense_search); each is then explained as the leg runs it: with a kept plan (explain_search), or planned with its arguments. The
-- plans of the ranking itself and of what prepares a search are not shown, nor the longer lists that collapse_duplicates may
-- ask for. A tenant cannot call it: buffers and rows count what is of others. Volatile, because EXPLAIN is not allowed in a stable
-- function.
--
-- The arguments are those of recall().
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
    filter jsonb DEFAULT NULL
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
    request pgrecall.recall_request := _pgrecall.resolve_request(
        recall_plan.query, recall_plan.query_vec, recall_plan.namespace,
        COALESCE(recall_plan.settings, '{}') || jsonb_strip_nulls(jsonb_build_object(
            'k', recall_plan.k, 'strategy', recall_plan.strategy, 'fusion', recall_plan.fusion, 'sort_by', recall_plan.sort_by,
            'profile', recall_plan.profile, 'min_similarity', recall_plan.min_similarity, 'min_score', recall_plan.min_score,
            'mmr_lambda', recall_plan.mmr_lambda, 'collapse_duplicates', recall_plan.collapse_duplicates
        )),
        _pgrecall.reads_past(asked),
        _pgrecall.question_anchor(asked, recall_plan.reference_time)
    );
    explain CONSTANT text := 'EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) ';
    moment CONSTANT timestamptz := COALESCE(recall_plan.reference_time, now());
    in_force pgrecall.recall_settings := request.settings;
    parsed pgrecall.parsed_query := request.parsed;
    generation CONSTANT integer := COALESCE(in_force.generation, pgrecall.active_generation());
    unraised pgrecall.recall_request := request;
    legs record;
    lexical record;
    dense record;
    graph record;
    search text;
    tried integer;
BEGIN
    IF NOT _pgrecall.may_read(request.namespace_id) THEN
        RETURN;
    END IF;
    asked.referring := _pgrecall.referring_memories(request.namespace_id, asked.timeframe);
    SELECT * INTO legs FROM _pgrecall.leg_inputs(request, asked, moment);

    IF legs.lexical_depth > 0 AND parsed.mode IN ('bm25', 'websearch') THEN
        SELECT * INTO lexical FROM _pgrecall.bm25_search(request.namespace_id, parsed, legs.lexical_filter, legs.lexical_depth);
        FOREACH tried IN ARRAY COALESCE(lexical.tries, '{}') LOOP
            RETURN QUERY SELECT * FROM unnest(ARRAY['lexical leg, bm25_postings:']);
            RETURN QUERY SELECT * FROM _pgrecall.explain_search(
                '_pgrecall.bm25_postings',
                'SELECT array_agg(b.id), array_agg(b.score) '
                'FROM _pgrecall.bm25_postings($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) b',
                ARRAY[
                    request.namespace_id::text, parsed.words::text, parsed.idfs::text, parsed.any_word::text, parsed.common::text,
                    parsed.required::text, legs.lexical_filter::text, legs.lexical_depth::text, tried::text, parsed.budget::text,
                    parsed.impacts::text
                ]
            );
            RETURN QUERY SELECT '';
        END LOOP;
        IF lexical.is_scanned THEN
            RETURN QUERY SELECT * FROM unnest(ARRAY['lexical leg, bm25_scan:']);
            RETURN QUERY EXECUTE explain
                || 'SELECT array_agg(b.id), array_agg(b.score) FROM _pgrecall.bm25_scan($1, $2, $3, $4, $5, $6, $7, $8) b'
                USING request.namespace_id, parsed.words, parsed.idfs, parsed.any_word, parsed.required,
                      _pgrecall.with_keys(request.namespace_id, legs.lexical_filter), legs.lexical_depth, parsed.impacts;
            RETURN QUERY SELECT '';
        END IF;
    ELSIF legs.lexical_depth > 0 THEN
        RETURN QUERY SELECT * FROM unnest(ARRAY['lexical leg, ts_rank_leg:']);
        RETURN QUERY EXECUTE explain || 'SELECT l.* FROM _pgrecall.ts_rank_leg($1, $2, $3, $4, $5, $6, $7) l'
            USING request.namespace_id, parsed.narrow, parsed.broad,
                  _pgrecall.with_keys(request.namespace_id, legs.lexical_filter), legs.lexical_depth, parsed.min_rank,
                  parsed.importance_share;
        RETURN QUERY SELECT '';
    END IF;

    IF legs.dense_depth > 0 THEN
        SELECT * INTO dense FROM _pgrecall.dense_search(
            request.namespace_id, query_vec, asked, legs.dense_depth, in_force.dense_exact_rows, generation, legs.has_passages
        );
        FOREACH search IN ARRAY dense.searches LOOP
            RETURN QUERY SELECT 'dense leg, ' || search || ':';
            CASE
                WHEN search LIKE '%embeddings' THEN
                    RETURN QUERY SELECT e.*
                    FROM pgrecall.generations g
                    CROSS JOIN LATERAL _pgrecall.explain_search(
                        ('_pgrecall.' || search)::regproc, _pgrecall.search_statement(search, g.column_name),
                        ARRAY[
                            request.namespace_id::text, query_vec::text, legs.dense_depth::text, generation::text,
                            _pgrecall.shared_visits(request.namespace_id, legs.dense_depth)::text
                        ]
                    ) e
                    WHERE g.id = generation;
                WHEN search = 'passages' THEN
                    RETURN QUERY EXECUTE explain || _pgrecall.passage_statement(
                        request.namespace_id, generation, pgvector.vector_dims(query_vec), dense.exact_limit
                    )
                    USING request.namespace_id, query_vec, asked, 4 * legs.dense_depth;
                ELSE
                    RETURN QUERY EXECUTE explain || format(
                        'SELECT array_agg(n.id), array_agg(n.distance) FROM _pgrecall.%I($1, $2, $3, $4, $5%s) n',
                        search, CASE search WHEN 'nearest_shared_filtered' THEN ', $6' END
                    )
                    USING request.namespace_id, query_vec, _pgrecall.with_keys(request.namespace_id, asked), legs.dense_depth,
                          generation, _pgrecall.shared_visits(request.namespace_id, legs.dense_depth);
            END CASE;
            RETURN QUERY SELECT '';
        END LOOP;
    END IF;

    IF legs.graph_depth > 0 THEN
        -- The walk starts from the scores before it, sessions and phrases raise them.
        in_force.graph_seeds := 0;
        in_force.session_share := 0;
        in_force.phrase_bonus := 0;
        unraised.period := NULL;
        unraised.settings := in_force;
        SELECT array_agg(r.id ORDER BY r.relevance DESC, r.id) AS ids, array_agg(r.relevance ORDER BY r.relevance DESC, r.id) AS levels
        INTO graph
        FROM _pgrecall.rank_memories(unraised, asked, moment, ARRAY(
            SELECT l.id
            FROM _pgrecall.lexical_leg(request.namespace_id, parsed, legs.lexical_filter, legs.lexical_depth) l
            UNION
            SELECT d.id
            FROM _pgrecall.dense_leg(
                request.namespace_id, query_vec, asked, legs.dense_depth, in_force.dense_exact_rows, generation, legs.has_passages
            ) d
            UNION
            SELECT n.id
            FROM _pgrecall.concept_candidates(
                request.namespace_id, request.concepts, asked, legs.graph_depth, in_force.graph_decay, in_force.hub_max_mentions,
                in_force.graph_weight, in_force.graph_mention, request.implied, in_force.expansion_weight
            ) n
        )) r
        WHERE r.is_candidate;
        RETURN QUERY SELECT * FROM unnest(ARRAY['graph leg, graph_search:']);
        RETURN QUERY SELECT * FROM _pgrecall.explain_search(
            '_pgrecall.graph_search', 'SELECT s.* FROM _pgrecall.graph_search($1, $2, $3, $4, $5, $6, $7) s',
            ARRAY[
                request.namespace_id::text, graph.ids::text, graph.levels::text, asked::text, graph.ids::text,
                legs.graph_depth::text, (request.settings)::text
            ]
        );
    END IF;
END
$function$;
