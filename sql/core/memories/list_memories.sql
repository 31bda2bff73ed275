-- Returns a page of the memories of one or several namespaces, newest first, with recall()'s filters; after_id continues after
-- the last memory of a page. Read-only.
--
-- Memories are ordered by coalesce(occurred_at, created_at), then id. To read the next page, pass the last id of this one as
-- after_id. Every page takes the same time, and a memory stored meanwhile moves none from one page to another.
--
-- namespace, namespaces  as for recall()
-- categories … as_of, filter  filters, as for recall()
-- forgotten          list forgotten memories instead, for restore(), whether they were superseded or over before or not
-- oldest_first       the other order
-- after_id           the last memory of the page before; NULL: the first page
-- max_results        1 to 1000
--
-- Errors  22023 max_results out of range, or a name in namespaces is NULL;  P0002 after_id is not in these
--         namespaces any more;  54000 more than 100 namespaces;  those of _pgrecall.metadata_path
CREATE OR REPLACE FUNCTION public.list_memories(
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
    forgotten boolean DEFAULT false,
    oldest_first boolean DEFAULT false,
    after_id bigint DEFAULT NULL,
    max_results integer DEFAULT 100,
    filter jsonb DEFAULT NULL,
    namespaces text[] DEFAULT NULL
)
RETURNS SETOF pgrecall.stored_memories
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 100
SET search_path FROM CURRENT
AS $function$
DECLARE
    asked pgrecall.recall_filter := _pgrecall.memory_filter(
        list_memories.categories, list_memories.tags_any, list_memories.tags_all, list_memories.metadata_contains,
        list_memories.metadata_where, list_memories.sessions, list_memories.speakers, list_memories.sources,
        list_memories.external_id_prefix, list_memories.since, list_memories.until, list_memories.include_superseded,
        list_memories.include_sensitive, list_memories.timeframe, list_memories.as_of,
        list_memories.filter
    );
    homes CONSTANT integer[] := _pgrecall.read_namespaces(list_memories.namespace, list_memories.namespaces);
    home integer;
    ids bigint[] := '{}'::bigint[];
    after_time timestamptz;
BEGIN
    IF max_results IS NULL OR max_results NOT BETWEEN 1 AND 1000 THEN
        RAISE EXCEPTION 'max_results must be between 1 and 1000, not %', COALESCE(max_results::text, 'NULL')
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Read further pages with after_id.';
    END IF;
    IF after_id IS NOT NULL THEN
        SELECT COALESCE(m.occurred_at, m.created_at) INTO after_time
        FROM pgrecall.memories m WHERE m.id = (SELECT _pgrecall.seen_id('memory', after_id)) AND m.namespace_id = ANY (homes);
        IF after_time IS NULL THEN
            RAISE EXCEPTION 'after_id: there is no memory % in %', after_id,
                CASE WHEN cardinality(homes) = 1 THEN 'this namespace' ELSE 'these namespaces' END
                USING ERRCODE = 'no_data_found', HINT = 'It may have been erased. Begin again without after_id.';
        END IF;
    END IF;
    FOREACH home IN ARRAY homes LOOP
        asked.referring := _pgrecall.referring_memories(home, asked.timeframe);
        ids := ids || ARRAY(
            SELECT w.id
            FROM _pgrecall.list_granted(
                home, asked, COALESCE(forgotten, false), COALESCE(oldest_first, false), after_time, after_id, max_results
            ) w (id)
        );
    END LOOP;
    RETURN QUERY
        SELECT s.*
        FROM pgrecall.stored_memories s
        CROSS JOIN LATERAL (SELECT CASE WHEN oldest_first THEN 1 ELSE -1 END AS way) o
        WHERE s.id = ANY (ids)
        ORDER BY o.way * EXTRACT(epoch FROM COALESCE(s.occurred_at, s.created_at)), o.way * s.id
        LIMIT max_results;
END
$function$;

ALTER FUNCTION public.list_memories OWNER TO pgrecall_gate;

REVOKE ALL ON FUNCTION public.list_memories FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder;
GRANT EXECUTE ON FUNCTION public.list_memories TO pgrecall_reader;
