-- Forgets all memories that pass recall()'s filters, of which one must be given; returns how many. dry_run only counts.
--
-- One transaction. restore() brings each of them back.
--
-- namespace, filters  as for list_memories(); at least one filter, and none that every memory passes, such as '{}'
-- dry_run  only count them
--
-- Errors  22023 no filter is given, or an empty one;  42501 read-only for this role
CREATE OR REPLACE FUNCTION public.forget_many(
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
    dry_run boolean DEFAULT false,
    filter jsonb DEFAULT NULL
)
RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    asked pgrecall.recall_filter := _pgrecall.memory_filter(
        forget_many.categories, forget_many.tags_any, forget_many.tags_all, forget_many.metadata_contains,
        forget_many.metadata_where, forget_many.sessions, forget_many.speakers, forget_many.sources,
        forget_many.external_id_prefix, forget_many.since, forget_many.until, forget_many.include_superseded,
        forget_many.include_sensitive, forget_many.timeframe, forget_many.as_of,
        forget_many.filter, 'forget_many'
    );
    home CONSTANT integer := pgrecall.namespace_id(forget_many.namespace);
    ids bigint[];
    forgotten bigint;
BEGIN
    IF NOT _pgrecall.may_write(home) AND _pgrecall.may_read(home) THEN
        RAISE EXCEPTION 'role "%" may only read this namespace', pg_get_userbyid(pgrecall.session_role())
            USING ERRCODE = 'insufficient_privilege',
                  HINT = 'An administrator grants more with pgrecall.grant_namespace(role, namespace, ''write'').';
    END IF;
    asked.referring := _pgrecall.referring_memories(home, asked.timeframe);
    ids := ARRAY(SELECT _pgrecall.list_granted(home, asked, false, false, NULL, NULL, NULL, true));
    IF dry_run THEN
        RETURN cardinality(ids)::bigint;
    END IF;
    PERFORM _pgrecall.lock_with_notes(ids);
    UPDATE pgrecall.memories m SET deleted_at = now(), updated_at = now() WHERE m.id = ANY (ids) AND m.deleted_at IS NULL;
    GET DIAGNOSTICS forgotten = ROW_COUNT;
    RETURN forgotten;
END
$function$;

ALTER FUNCTION public.forget_many OWNER TO pgrecall_gate;

REVOKE ALL ON FUNCTION public.forget_many FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder;
GRANT EXECUTE ON FUNCTION public.forget_many TO pgrecall_writer;
