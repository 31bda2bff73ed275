-- Permanently deletes all memories that pass recall()'s filters, of which one must be given, in whatever state, each as
-- erase() does; returns a receipt for each. dry_run deletes nothing.
--
-- Whatever their state: superseded, forgotten, expired and sensitive ones too. One transaction. docs/deleting-a-person.md shows
-- what else names a person.
--
-- namespace, filters  as for list_memories(); at least one filter, and none that every memory passes, such as '{}'
-- dry_run  roll back: the receipts show what would be deleted, have no number and are not kept
--
-- Errors  22023 no filter is given, an empty one, or one of states;  42704 no such namespace;  42501 read-only for this role;  55000
--         not under read committed;
--         55P03 locked for too long
CREATE OR REPLACE FUNCTION public.erase_many(
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
    timeframe tstzrange DEFAULT NULL,
    dry_run boolean DEFAULT false,
    filter jsonb DEFAULT NULL
)
RETURNS TABLE (receipt bigint, namespace_id integer, memory_id bigint, role text, erased_at timestamptz, counts jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
#variable_conflict use_column
DECLARE
    asked pgrecall.recall_filter := _pgrecall.memory_filter(
        erase_many.categories, erase_many.tags_any, erase_many.tags_all, erase_many.metadata_contains,
        erase_many.metadata_where, erase_many.sessions, erase_many.speakers, erase_many.sources,
        erase_many.external_id_prefix, erase_many.since, erase_many.until, true, true, erase_many.timeframe,
        filter => erase_many.filter, deleting => 'erase_many'
    );
    home CONSTANT integer := _pgrecall.writable_namespace(erase_many.namespace);
BEGIN
    -- The filter may say so, though no argument does. What stays would be taken for erased.
    IF asked.as_of IS NOT NULL OR NOT asked.include_superseded OR NOT asked.include_sensitive THEN
        RAISE EXCEPTION 'erase_many takes no as_of, include_superseded or include_sensitive: it erases memories in every state'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Leave it out, or pass the ids of some memories to erase().';
    END IF;
    asked.referring := _pgrecall.referring_memories(home, asked.timeframe);
    RETURN QUERY
    SELECT e.id, e.namespace_id, e.memory_id, e.role, e.erased_at, e.counts
    FROM _pgrecall.erase_granted(
        ARRAY(SELECT l.id FROM _pgrecall.list_granted(home, asked, NULL, false, NULL, NULL, NULL, true) l (id) ORDER BY l.id),
        erase_many.dry_run
    ) e;
END
$function$;

ALTER FUNCTION public.erase_many OWNER TO pgrecall_gate;

REVOKE ALL ON FUNCTION public.erase_many FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder;
GRANT EXECUTE ON FUNCTION public.erase_many TO pgrecall_writer;
