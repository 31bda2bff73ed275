-- Returns the memories most relevant to a query: lexical, dense and concept-graph candidates of a namespace, each scored
-- on every leg and fused, best first. query_vec is the query's embedding (NULL: words and concepts only). Ranks are places
-- in each leg's list, NULL if the leg did not find the memory; similarity is the cosine to query_vec. Read-only.
--
-- sql/README.md, "How a memory gets its score", describes the scoring; recall_explain() shows it for one memory in numbers.
-- The lexical leg finds memories with the query's words, the dense leg memories with an embedding near query_vec, the
-- graph leg memories that share concepts with the query or with the best hits.
-- Every leg filters before it limits and returns at least k candidates. Fewer than k results mean that fewer memories
-- match the filters, the legs in use and the thresholds. Ties break by similarity, then id, so results are repeatable.
--
-- query               words to look for, at most 16,384 characters; may be empty if there is a vector
-- query_vec           the query's embedding, from the model that recall_status() names; NULL: no dense leg
-- k                   number of memories, 1 to 1000
-- namespace           NULL: namespaces, else the setting pgrecall.namespace, else 'default'; no rows if it does not exist
-- categories          any of these categories
-- tags_any, tags_all  any, all of these tags, as written
-- metadata_contains   metadata that contains this object
-- metadata_where      metadata that fits these conditions: {"price": {"$lt": 10}, "color": {"$in": ["red", "blue"]}}; see
--                     _pgrecall.metadata_path
-- sessions, speakers, sources  of any of these sessions, speakers, sources, as written
-- external_id_prefix  external_id begins with this text
-- since, until        coalesce(occurred_at, created_at) in [since, until)
-- include_superseded  include superseded memories, and those whose validity ended (valid_to) before the asked time, or now
-- include_sensitive   include sensitive memories
-- timeframe           memories of that time (coalesce(occurred_at, created_at)) or mentioning it: see parse_timeframe()
-- as_of               memories recorded by then and not superseded then; forgotten and expired memories stay hidden
-- reference_time      age is measured from here; NULL: now
-- filter              conditions by name, as an alternative to the arguments from categories to as_of, and the only way to those that
--                     have no argument: {"tags_any": ["travel"], "since": "2026-03-01"}; pgrecall.recall_conditions lists them. A
--                     time is ISO 8601. include_superseded and include_sensitive go before the arguments
-- namespaces          several, ranked in one list; a notice tells of one that the role does not see. NULL: those of the setting
--                     pgrecall.namespaces, if namespace is NULL too. Empty: no rows
-- namespace_weights   what the scores of some of them are multiplied by, 0 to 1: {"team": 0.5}
-- strategy … collapse_duplicates  settings of the same name, for this call
-- settings            any other setting for this call: {"rrf_k": 60}; pgrecall.settings_reference lists them
--
-- Errors  22023 k, vector or setting out of range, no such setting or condition, or nothing to recall by, or a
--         name in namespaces is NULL;  54000 query too long, or more than 100 namespaces
--
-- namespace_name      the namespace of the memory
-- chosen_strategy     the strategy that was used; exact is auto's choice for a literal query
-- duplicates          memories hidden behind this one by collapse_duplicates
-- passage             of a long memory, the part nearest to query_vec: characters of content, the first is 0
-- confidence          that the memory answers the query, 0 to 1; low for the first memory: the answer may be unknown. NULL
--                     with fusion rrf
-- origin              where it comes from, from the least to the most trusted: web, tool, import, agent, user
--
-- Writes nothing: runs on a standby. Every SET LOCAL of the caller applies, except plan_cache_mode and, in the dense leg's two
-- searches, some of the planner's enable_ settings. Each statement keeps one generic plan per session; only searches under
-- filters are planned on every call, with their arguments (EXECUTE).
CREATE OR REPLACE FUNCTION public.recall(
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
RETURNS TABLE (
    id bigint, external_id text, title text, content text, score double precision,
    lexical_rank integer, dense_rank integer, graph_rank integer,
    lexical_score double precision, similarity double precision, graph_score double precision,
    category text, tags text[], metadata jsonb, importance real, speaker text, session text, source text,
    occurred_at timestamptz, created_at timestamptz, is_sensitive boolean, chosen_strategy text, duplicates bigint[],
    passage int4range, confidence double precision, origin pgrecall.memory_origin, namespace_name text
)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 10
SET search_path FROM CURRENT
SET plan_cache_mode = force_generic_plan
AS $function$
#variable_conflict use_column
DECLARE
    asked pgrecall.recall_filter := _pgrecall.memory_filter(
        recall.categories, recall.tags_any, recall.tags_all, recall.metadata_contains, recall.metadata_where,
        recall.sessions, recall.speakers, recall.sources, recall.external_id_prefix, recall.since, recall.until,
        recall.include_superseded, recall.include_sensitive, recall.timeframe, recall.as_of,
        recall.filter
    );
    names CONSTANT text[] := _pgrecall.asked_namespaces(recall.namespace, recall.namespaces);
    arguments CONSTANT jsonb := COALESCE(recall.settings, '{}') || jsonb_strip_nulls(jsonb_build_object(
        'k', recall.k, 'strategy', recall.strategy, 'fusion', recall.fusion, 'sort_by', recall.sort_by,
        'profile', recall.profile, 'min_similarity', recall.min_similarity, 'min_score', recall.min_score,
        'mmr_lambda', recall.mmr_lambda, 'collapse_duplicates', recall.collapse_duplicates
    ));
    home CONSTANT text := CASE WHEN names IS NULL THEN pgrecall.namespace_name(recall.namespace) END;
    request pgrecall.recall_request;
    requests pgrecall.recall_request[];
BEGIN
    PERFORM _pgrecall.check_namespace_weights(recall.namespace_weights, names);
    -- One namespace needs no merging, nor copies of its request and its lines in arrays.
    IF names IS NULL THEN
        request := _pgrecall.resolve_granted(
            recall.query, recall.query_vec, home, arguments,
            _pgrecall.reads_past(asked), _pgrecall.question_anchor(asked, recall.reference_time)
        );
        asked.referring := _pgrecall.referring_memories(request.namespace_id, asked.timeframe);
        RETURN QUERY
            SELECT m.id, m.external_id, m.title, m.content, r.score,
                   r.lexical_rank, r.dense_rank, r.graph_rank, r.lexical_score, r.similarity, r.graph_score,
                   m.category, m.tags, m.metadata, m.importance, m.speaker, m.session, m.source,
                   m.occurred_at, m.created_at, m.is_sensitive, (request.settings).strategy, r.duplicates, r.passage, r.confidence,
                   m.origin, home
            FROM _pgrecall.rank_distinct(request, asked, COALESCE(recall.reference_time, now())) r
            JOIN pgrecall.memories m ON m.id = r.id
            ORDER BY r.place;
    ELSE
        requests := _pgrecall.resolve_requests(recall.query, recall.query_vec, names, arguments, asked, recall.reference_time);
        RETURN QUERY
            SELECT m.id, m.external_id, m.title, m.content, r.score,
                   (r.line).lexical_rank, (r.line).dense_rank, (r.line).graph_rank,
                   (r.line).lexical_score, (r.line).similarity, (r.line).graph_score,
                   m.category, m.tags, m.metadata, m.importance, m.speaker, m.session, m.source,
                   m.occurred_at, m.created_at, m.is_sensitive, ((requests[r.owner]).settings).strategy,
                   (r.line).duplicates, (r.line).passage, (r.line).confidence, m.origin, names[r.owner]
            FROM _pgrecall.rank_across(names, requests, recall.namespace_weights, asked, COALESCE(recall.reference_time, now())) r
            JOIN pgrecall.memories m ON m.id = (r.line).id
            ORDER BY r.place;
    END IF;
END
$function$;

ALTER FUNCTION public.recall OWNER TO pgrecall_gate;

REVOKE ALL ON FUNCTION public.recall FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder;
GRANT EXECUTE ON FUNCTION public.recall TO pgrecall_reader;
