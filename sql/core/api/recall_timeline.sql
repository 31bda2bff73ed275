-- Returns the memories that recall() finds for a topic, in chronological order, with the gap to the previous one and a flag
-- where a new session begins. Takes recall()'s arguments. Read-only.
--
-- The k memories are those recall() would give; only their order differs. The arguments are recall()'s.
--
-- topic           words to look for, as recall()'s query
-- happened_at     coalesce(occurred_at, created_at)
-- gap             time since the previous row's memory; NULL in the first row
-- is_new_session  true in the first row and when the session changes; memories of a namespace without a session share one
-- origin          as recall() returns it
--
-- Errors  22023 k, vector or setting out of range, or nothing to recall by;  54000 topic too long
CREATE OR REPLACE FUNCTION public.recall_timeline(
    topic text,
    query_vec pgvector.halfvec DEFAULT NULL,
    k integer DEFAULT 20,
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
    filter jsonb DEFAULT NULL,
    namespaces text[] DEFAULT NULL
)
RETURNS TABLE (
    id bigint, happened_at timestamptz, session text, speaker text, title text, content text, score double precision,
    gap interval, is_new_session boolean, origin pgrecall.memory_origin, namespace_name text
)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 20
SET search_path FROM CURRENT
AS $function$
BEGIN
    RETURN QUERY
        SELECT h.id, h.happened_at, h.session, h.speaker, h.title, h.content, h.score,
               CASE WHEN lag(h.happened_at) OVER in_time IS NOT NULL
                    THEN _pgrecall.age_at(h.happened_at, lag(h.happened_at) OVER in_time) END,
               row_number() OVER in_time = 1 OR (h.session, h.namespace_name) IS DISTINCT FROM
                   (lag(h.session) OVER in_time, lag(h.namespace_name) OVER in_time),
               h.origin, h.namespace_name
        FROM (
            SELECT r.id, COALESCE(r.occurred_at, r.created_at) AS happened_at,
                   r.session, r.speaker, r.title, r.content, r.score, r.origin, r.namespace_name
            FROM public.recall(
                topic, query_vec, k => k, namespace => namespace, categories => categories,
                tags_any => tags_any, tags_all => tags_all, metadata_contains => metadata_contains,
                metadata_where => metadata_where, sessions => sessions, speakers => speakers, sources => sources,
                external_id_prefix => external_id_prefix,
                since => since, until => until, include_superseded => include_superseded,
                include_sensitive => include_sensitive, timeframe => timeframe, as_of => as_of, filter => filter, namespaces => namespaces
            ) r
        ) h
        WINDOW in_time AS (ORDER BY h.happened_at, h.id)
        ORDER BY h.happened_at, h.id;
END
$function$;

ALTER FUNCTION public.recall_timeline OWNER TO pgrecall_gate;

REVOKE ALL ON FUNCTION public.recall_timeline FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder;
GRANT EXECUTE ON FUNCTION public.recall_timeline TO pgrecall_reader;
