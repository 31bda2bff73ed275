-- Reverts what curation did to a memory, unless it has changed since; returns whether there was anything to revert.
--
-- It restores every changed field. The pair is not decided again. A second call changes nothing.
--
-- Errors  P0002 no such decision;  42501 its memories are read-only for this role;  55000 the memory has changed since
CREATE OR REPLACE FUNCTION public.undo_curation(id bigint)
RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    seen CONSTANT bigint := _pgrecall.seen_id('curation', undo_curation.id);
    decided pgrecall.curations;
    stored pgrecall.memories;
    changed record;
BEGIN
    SELECT c.* INTO decided FROM pgrecall.curations c WHERE c.id = seen;
    IF decided.id IS NULL THEN
        RAISE EXCEPTION 'there is no curation %', COALESCE(undo_curation.id::text, 'NULL')
            USING ERRCODE = 'no_data_found', HINT = 'pgrecall.curation_log() lists them.';
    END IF;
    -- Lock memories before the decision: flagging a memory as sensitive takes the locks in this order.
    PERFORM FROM pgrecall.memories m WHERE m.id IN (decided.memory_id, decided.other_id) ORDER BY m.id FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        PERFORM _pgrecall.raise_read_only(decided.memory_id);
    END IF;
    SELECT c.* INTO decided FROM pgrecall.curations c WHERE c.id = seen FOR NO KEY UPDATE;
    IF decided.id IS NULL THEN
        RAISE EXCEPTION 'curation % may only be read', undo_curation.id
            USING ERRCODE = 'insufficient_privilege',
                  HINT = 'An administrator grants more with pgrecall.grant_namespace(role, namespace, ''write'').';
    ELSIF decided.undone_at IS NOT NULL THEN
        RETURN false;
    END IF;
    FOR changed IN SELECT e.key::bigint AS id, e.value AS fields FROM jsonb_each(decided.before) e LOOP
        SELECT m.* INTO stored FROM pgrecall.memories m WHERE m.id = changed.id;
        -- Read and written again: in the log, a time is in the time zone of the session that decided.
        IF _pgrecall.curation_fields(jsonb_populate_record(NULL::pgrecall.memories, decided.after -> changed.id::text))
           IS DISTINCT FROM _pgrecall.curation_fields(stored) THEN
            RAISE EXCEPTION 'memory % was changed since curation %', changed.id, undo_curation.id
                USING ERRCODE = 'object_not_in_prerequisite_state',
                      HINT = 'Read the memory and correct it with update_memory() or supersede().';
        END IF;
        UPDATE pgrecall.memories m
        SET superseded_by = (changed.fields ->> 'superseded_by')::bigint,
            superseded_at = (changed.fields ->> 'superseded_at')::timestamptz,
            valid_to = (changed.fields ->> 'valid_to')::timestamptz,
            updated_at = (changed.fields ->> 'updated_at')::timestamptz
        WHERE m.id = changed.id;
    END LOOP;
    UPDATE pgrecall.curations c SET undone_at = now() WHERE c.id = seen;
    RETURN true;
END
$function$;

ALTER FUNCTION public.undo_curation OWNER TO pgrecall_gate;

REVOKE ALL ON FUNCTION public.undo_curation FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder;
GRANT EXECUTE ON FUNCTION public.undo_curation TO pgrecall_writer;
