-- Explains why recall ranks memories where it does, or does not return them: for the given ids, or the returned ones, rank,
-- score and share of each leg, every factor, the arithmetic, and the first reason for a missing memory. From k on the
-- arguments are recall()'s. Read-only.
--
-- Runs the same statement as recall() and returns the parts of each score. The arguments from k on are recall()'s. It
-- takes several memories, to compare them within one ranking. sql/README.md, "How a memory gets its score", says how each part
-- comes about. For every ranked memory:
--   relevance = lexical_part + dense_part + sparse_part + graph_part + session_part + phrase_part + time_part
--   combined  = (factor_relevance * relevance + top * (factor_importance * importance + factor_recency * recency))
--               / (factor_relevance + factor_importance + factor_recency)     from settings_in_force
--   score     = combined * importance_factor * decay_factor * entity_factor * speaker_factor * newer_factor * trust_factor
--               * namespace_weight
--
-- ids  the memories to explain, at most 1,000; NULL: the returned ones
--
-- Errors  those of recall();  54000 more than 1,000 ids
--
-- place           its position in the result; NULL: not returned
-- reason          why it is not returned; NULL if it is. The first that applies: no such memory; in another namespace;
--                 forgotten; expired at …; filtered by as_of; superseded by …; filtered by include_sensitive, categories,
--                 tags_any, tags_all, metadata_contains, metadata_where, sessions, speakers, sources, external_id_prefix,
--                 since, until, timeframe, min_trust; valid until …; found by no leg: …; below min_similarity, min_score,
--                 min_confidence; hidden behind duplicate …; pushed down by MMR; below the cut. For a memory in another
--                 namespace nothing else is shown; under row-level security it is no such memory
-- arithmetic      the score written out; without an embedding, dense is the candidates' mean
-- content         NULL, like title, if the memory is forgotten, expired or hidden by include_sensitive
-- lexical_weight … the weights of the legs in this recall; 0: not in use
-- top             the highest possible relevance
-- is_candidate    false: no leg found it, or the filter excludes it; its scores are hypothetical, without the graph boost
-- candidate_rank  its position before duplicates, MMR and k apply; NULL: no candidate, or below a threshold
-- mmr_penalty     what MMR subtracted for similarity to earlier results
-- settings_in_force  every setting of this recall, by name
-- added_terms     terms that the setting expand added to the query; NULL: none
-- expansion_score     the part of lexical_score from these terms
-- confidence          recall()'s: that the memory answers the query, 0 to 1. NULL with fusion rrf, and where content is
-- confidence_parts    what speaks for it and against it, as log odds; confidence = 1 / (1 + exp(-sum)).
--                     base: before anything is known, the same for every memory; share: how much of the query's words it holds,
--                     by their rarity; evidence: how rare the words are that it holds; lead: how far it is ahead of other
--                     candidates; contradiction: it has numbers, but not the version that the query names
-- newer_factor        raises the newer of two near-identical statements to the score of the older one, before which it is placed
-- trust_factor        raises a memory to the score of one that came through a tool or from the web, before which it is placed because
--                     it answers the query about as well
-- origin              where it comes from: user, agent, import, tool or web
-- namespace_weight    what the call says of the memory's namespace
-- sparse_part, sparse_weight  of the terms that a sparse model gave the memory; without terms it counts by its words
CREATE OR REPLACE FUNCTION public.recall_explain(
    query text,
    query_vec pgvector.halfvec DEFAULT NULL,
    ids bigint[] DEFAULT NULL,
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
RETURNS TABLE (
    id bigint, place integer, score double precision, reason text, arithmetic text, title text, content text,
    lexical_rank integer, dense_rank integer, graph_rank integer,
    lexical_score double precision, similarity double precision, graph_score double precision,
    lexical_weight double precision, dense_weight double precision, graph_weight double precision,
    lexical_part double precision, dense_part double precision, graph_part double precision,
    session_part double precision, phrase_part double precision, relevance double precision, top double precision,
    importance real, recency double precision, combined double precision,
    importance_factor double precision, decay_factor double precision, entity_factor double precision,
    speaker_factor double precision,
    is_candidate boolean, candidate_rank integer, mmr_penalty double precision, duplicates bigint[],
    chosen_strategy text, settings_in_force jsonb, added_terms text[], expansion_score double precision,
    passage int4range, time_part double precision, question_period tstzrange,
    confidence double precision, confidence_parts jsonb, newer_factor double precision,
    sparse_part double precision, sparse_weight double precision, trust_factor double precision, origin pgrecall.memory_origin,
    namespace_name text, namespace_weight double precision
)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 10
SET search_path FROM CURRENT
AS $function$
#variable_conflict use_column
DECLARE
    asked pgrecall.recall_filter := _pgrecall.memory_filter(
        recall_explain.categories, recall_explain.tags_any, recall_explain.tags_all, recall_explain.metadata_contains,
        recall_explain.metadata_where, recall_explain.sessions, recall_explain.speakers, recall_explain.sources,
        recall_explain.external_id_prefix, recall_explain.since, recall_explain.until,
        recall_explain.include_superseded, recall_explain.include_sensitive, recall_explain.timeframe, recall_explain.as_of,
        recall_explain.filter
    );
    several CONSTANT text[] := _pgrecall.asked_namespaces(recall_explain.namespace, recall_explain.namespaces);
    names CONSTANT text[] := COALESCE(several, ARRAY[pgrecall.namespace_name(recall_explain.namespace)]);
    requests CONSTANT pgrecall.recall_request[] := _pgrecall.resolve_requests(
        recall_explain.query, recall_explain.query_vec, names,
        COALESCE(recall_explain.settings, '{}') || jsonb_strip_nulls(jsonb_build_object(
            'k', recall_explain.k, 'strategy', recall_explain.strategy, 'fusion', recall_explain.fusion,
            'sort_by', recall_explain.sort_by, 'profile', recall_explain.profile,
            'min_similarity', recall_explain.min_similarity, 'min_score', recall_explain.min_score,
            'mmr_lambda', recall_explain.mmr_lambda, 'collapse_duplicates', recall_explain.collapse_duplicates
        )),
        asked, recall_explain.reference_time
    );
    counted_from timestamptz := COALESCE(recall_explain.reference_time, now());
    filters pgrecall.recall_filter[];
    any_request pgrecall.recall_request;
    seen bigint[];
BEGIN
    PERFORM _pgrecall.check_namespace_weights(recall_explain.namespace_weights, several);
    IF cardinality(ids) > 1000 THEN
        RAISE EXCEPTION '% ids are too many; 1000 is the limit', cardinality(ids)
            USING ERRCODE = 'program_limit_exceeded', HINT = 'Ask for the memories in question, a few at a time.';
    END IF;
    seen := _pgrecall.seen_ids('memory', ids);
    FOR owner IN 1..cardinality(requests) LOOP
        asked.referring := _pgrecall.referring_memories((requests[owner]).namespace_id, asked.timeframe);
        filters[owner] := asked;
        IF any_request IS NULL THEN
            any_request := requests[owner];
        END IF;
    END LOOP;
    RETURN QUERY
        WITH ranked AS MATERIALIZED (
            SELECT r.line, (r.line).id, r.place, r.score, (r.line).duplicates, r.owner, requests[r.owner] AS request,
                   COALESCE((recall_explain.namespace_weights ->> names[r.owner])::double precision, 1) AS weight
            FROM _pgrecall.rank_across(names, requests, recall_explain.namespace_weights, asked, counted_from, seen) r
        ), returned AS MATERIALIZED (
            SELECT count(*)::integer AS total, (array_agg(r.score ORDER BY r.place DESC))[1] AS lowest_score
            FROM ranked r
            WHERE r.place IS NOT NULL
        ), wanted AS (
            SELECT r.id FROM ranked r WHERE ids IS NULL
            UNION
            SELECT u.id FROM unnest(ids) u (id) WHERE u.id IS NOT NULL
        )
        SELECT w.id, r.place, r.score,
               CASE
                   WHEN r.place IS NOT NULL THEN NULL
                   WHEN r.id IS NULL AND EXISTS (SELECT FROM pgrecall.memories o WHERE o.id = w.id AND w.id = ANY (seen))
                       THEN 'in another namespace'
                   WHEN r.id IS NULL THEN 'no such memory'
                   ELSE COALESCE(
                       _pgrecall.explain_filtered(m, filters[r.owner]),
                       CASE WHEN NOT (r.line).is_candidate THEN _pgrecall.explain_not_found(m, r.line, r.request, counted_from) END,
                       CASE WHEN (r.line).place IS NOT NULL THEN format(
                           'below the cut: place %s in its namespace, the last returned has score %s',
                           (r.line).place, _pgrecall.format_score(t.lowest_score)
                       ) END,
                       _pgrecall.explain_outranked(
                           r.line, r.request, (SELECT b.id FROM ranked b WHERE w.id = ANY (b.duplicates)),
                           t.total, t.lowest_score
                       )
                   )
               END,
               _pgrecall.score_arithmetic(r.line, m.importance, (r.request).settings, r.weight),
               CASE WHEN is_shown THEN m.title END, CASE WHEN is_shown THEN m.content END,
               (r.line).lexical_rank, (r.line).dense_rank, (r.line).graph_rank,
               (r.line).lexical_score, (r.line).similarity, (r.line).graph_score,
               (r.line).lexical_weight, (r.line).dense_weight, (r.line).graph_weight,
               (r.line).lexical_part, (r.line).dense_part, (r.line).graph_part,
               (r.line).session_part, (r.line).phrase_part, (r.line).relevance,
               CASE WHEN r.id IS NOT NULL THEN _pgrecall.max_score(
                   ((r.request).settings).fusion, (SELECT sum(l.weight) FROM _pgrecall.ranked_legs(r.line) l),
                   ((r.request).settings).rrf_k
               ) END,
               m.importance, (r.line).recency, (r.line).combined,
               (r.line).importance_factor, (r.line).decay_factor, (r.line).entity_factor, (r.line).speaker_factor,
               COALESCE((r.line).is_candidate, false), (r.line).candidate_rank, (r.line).mmr_penalty, r.duplicates,
               (q.settings).strategy, to_jsonb(q.settings), q.expansion,
               CASE WHEN (r.line).lexical_score IS NOT NULL THEN e.expansion_score END,
               (r.line).passage, (r.line).time_part, q.period,
               CASE WHEN is_shown THEN (r.line).confidence END,
               CASE WHEN is_shown THEN _pgrecall.explain_confidence(m, r.line, r.request) END, (r.line).newer_factor,
               (r.line).sparse_part, (r.line).sparse_weight, (r.line).trust_factor, m.origin, names[r.owner], r.weight
        FROM wanted w
        CROSS JOIN returned t
        LEFT JOIN ranked r ON r.id = w.id
        LEFT JOIN pgrecall.memories m ON m.id = r.id
        CROSS JOIN LATERAL (
            SELECT (c.request).settings, (c.request).expansion, (c.request).period
            FROM (SELECT COALESCE(r.request, any_request) AS request) c
        ) q
        CROSS JOIN LATERAL _pgrecall.lexical_score(m.search_vector, m.word_count, m.importance, (r.request).parsed) e
        CROSS JOIN LATERAL (
            SELECT m.deleted_at IS NULL AND (m.expires_at IS NULL OR m.expires_at > now())
                   AND (COALESCE(asked.include_sensitive, true) OR NOT m.is_sensitive) AS is_shown
        ) s
        ORDER BY r.place, w.id;
END
$function$;

ALTER FUNCTION public.recall_explain OWNER TO pgrecall_gate;

REVOKE ALL ON FUNCTION public.recall_explain FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder;
GRANT EXECUTE ON FUNCTION public.recall_explain TO pgrecall_reader;
