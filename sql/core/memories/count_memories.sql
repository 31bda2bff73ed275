-- Counts the memories of one or several namespaces that pass recall()'s filters. Read-only.
--
-- It reads every such memory: about half a second for a million.
--
-- namespace, namespaces, filters, forgotten  as for list_memories()
--
-- Errors  those of list_memories()
CREATE OR REPLACE FUNCTION public.count_memories(
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
    filter jsonb DEFAULT NULL,
    namespaces text[] DEFAULT NULL
)
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    asked pgrecall.recall_filter := _pgrecall.memory_filter(
        count_memories.categories, count_memories.tags_any, count_memories.tags_all, count_memories.metadata_contains,
        count_memories.metadata_where, count_memories.sessions, count_memories.speakers, count_memories.sources,
        count_memories.external_id_prefix, count_memories.since, count_memories.until, count_memories.include_superseded,
        count_memories.include_sensitive, count_memories.timeframe, count_memories.as_of,
        count_memories.filter
    );
    homes CONSTANT integer[] := _pgrecall.read_namespaces(count_memories.namespace, count_memories.namespaces);
    home integer;
    counted bigint := 0::bigint;
BEGIN
    FOREACH home IN ARRAY homes LOOP
        asked.referring := _pgrecall.referring_memories(home, asked.timeframe);
        counted := counted + (
            SELECT count(*) FROM _pgrecall.list_granted(home, asked, COALESCE(forgotten, false), false, NULL, NULL, NULL)
        );
    END LOOP;
    RETURN counted;
END
$function$;

ALTER FUNCTION public.count_memories OWNER TO pgrecall_gate;

REVOKE ALL ON FUNCTION public.count_memories FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder;
GRANT EXECUTE ON FUNCTION public.count_memories TO pgrecall_reader;
