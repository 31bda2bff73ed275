-- Applies a write of an offline copy, and resolves a conflict with writes made here meanwhile.
--
-- The later write wins. The losing version is stored as a separate memory, superseded by the winner and with "conflict" in
-- its metadata. A later edit of a memory that is forgotten here restores it; an earlier edit becomes a losing version.
-- Forgetting a memory that was changed here later does nothing.
--
-- write    kind    'remember', 'update', 'supersede' or 'forget'
--          key     external_id of the memory it creates, so that a repeated push creates it once
--          at      time of the write; not in the future
--          id      the memory, except for 'remember';  base  its updated_at when it was copied
--          fields  options of remember(), of update_memory(), or of supersede(): content or successor, and the others
--          mine    'update': all options of the memory in the copy after the write
--          on_conflict  'remember': as in remember()
--
-- id           the memory; for 'supersede' its successor
-- outcome      'applied'; in a conflict the winner, 'mine' or 'theirs'
-- kept         the memory that stores the losing version
-- written_at   updated_at of the changed memory
-- transaction  argument of is_committed()
-- is_sensitive  whether the memory is sensitive now, as a policy against secrets can make it
-- is_as_given   false if fields of it may not be as they were given, as after a redaction or a conflict
--
-- Errors  22023, 54000 see _pgrecall.check_memory;  42501 the role may only read the namespace;  42704 no such namespace or language;
--         P0002 no such memory;  23505 external_id is taken
CREATE OR REPLACE FUNCTION pgrecall.sync_push(write jsonb, namespace text DEFAULT NULL)
RETURNS TABLE (
    id bigint, outcome text, kept bigint, updated_at timestamptz, written_at timestamptz, transaction text, is_sensitive boolean,
    is_as_given boolean
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT SET extra_float_digits = 1
AS $function$
DECLARE
    name text := pgrecall.namespace_name(sync_push.namespace);
    home integer := _pgrecall.known_namespace(name);
    key text := write ->> 'key';
    said timestamptz;
    fields jsonb := COALESCE(NULLIF(write -> 'fields', 'null'), '{}');
    mine jsonb := COALESCE(NULLIF(write -> 'mine', 'null'), '{}');
    stored pgrecall.memories;
    head pgrecall.memories;
    is_unchanged boolean;
    is_theirs boolean;
    seen bigint[];
BEGIN
    PERFORM _pgrecall.check_typed(write, 'write', ids => '{id}', times => '{at,base}');
    said := least((write ->> 'at')::timestamptz, now());
    IF (write ->> 'kind') IS NULL OR write ->> 'kind' NOT IN ('remember', 'update', 'supersede', 'forget') OR key IS NULL
       OR said IS NULL
    THEN
        RAISE EXCEPTION 'a write needs its kind, key and time'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'The kinds are remember, update, supersede and forget.';
    END IF;
    -- Values that are cast before another function validates them.
    IF write ->> 'kind' = 'supersede' THEN
        PERFORM _pgrecall.check_typed(fields, 'fields', ids => '{successor}');
        PERFORM _pgrecall.check_memory(fields - 'successor', 'fields');
    ELSIF write ->> 'kind' = 'update' THEN
        PERFORM _pgrecall.check_memory(mine, 'mine');
    END IF;
    outcome := 'applied';
    IF write ->> 'kind' = 'remember' THEN
        SELECT r.id INTO id
        FROM public.remember_many(
            jsonb_build_array(fields - 'namespace'), name, on_conflict => COALESCE(write ->> 'on_conflict', 'error')
        ) r (id);
    ELSE
        id := (write ->> 'id')::bigint;
        seen := _pgrecall.seen_ids('memory', ARRAY[sync_push.id, (fields ->> 'successor')::bigint]);
        PERFORM _pgrecall.lock_with_successor(
            ARRAY(SELECT m.id FROM pgrecall.memories m WHERE m.id = ANY (seen) AND m.namespace_id = home),
            (fields ->> 'successor')::bigint
        );
        SELECT m.* INTO stored FROM pgrecall.memories m
        WHERE m.id = sync_push.id AND m.id = ANY (seen) AND m.namespace_id = home AND _pgrecall.may_write(m.namespace_id);
        IF stored.id IS NULL THEN
            PERFORM _pgrecall.raise_unknown_memory(sync_push.id);
        END IF;
        is_unchanged := COALESCE(stored.updated_at = (write ->> 'base')::timestamptz, false);
        is_theirs := stored.updated_at > said;
    END IF;

    IF write ->> 'kind' = 'update' THEN
        IF is_unchanged THEN
            PERFORM _pgrecall.change_memory(sync_push.id, fields);
        ELSIF stored.deleted_at IS NOT NULL OR NOT _pgrecall.has_fields(stored, mine) THEN
            IF is_theirs THEN
                outcome := 'theirs';
                kept := _pgrecall.store_losing_version(stored, mine, key, 'mine');
            ELSE
                outcome := 'mine';
                IF stored.deleted_at IS NULL THEN
                    kept := _pgrecall.store_losing_version(stored, _pgrecall.version_fields(stored), key, 'theirs');
                END IF;
                -- A superseded memory stays superseded. It is sensitive if either version is.
                PERFORM _pgrecall.change_memory(sync_push.id, (mine || jsonb_build_object(
                    'is_sensitive', stored.is_sensitive OR COALESCE((mine ->> 'is_sensitive')::boolean, false)
                )) - CASE WHEN stored.superseded_by IS NULL THEN '{}' ELSE '{valid_to}'::text[] END, true);
            END IF;
        END IF;
    ELSIF write ->> 'kind' = 'forget' AND stored.deleted_at IS NULL THEN
        IF NOT is_unchanged AND is_theirs THEN
            outcome := 'theirs';
        ELSE
            IF NOT is_unchanged THEN
                outcome := 'mine';
                kept := _pgrecall.store_losing_version(stored, _pgrecall.version_fields(stored), key, 'theirs');
            END IF;
            PERFORM public.forget(sync_push.id);
        END IF;
    ELSIF write ->> 'kind' = 'supersede' AND fields ->> 'successor' IS NOT NULL THEN
        id := public.supersede(
            sync_push.id, successor => (fields ->> 'successor')::bigint, occurred_at => (fields ->> 'occurred_at')::timestamptz,
            metadata => NULLIF(fields -> 'metadata', 'null'), importance => (fields ->> 'importance')::double precision,
            origin => fields ->> 'origin'
        );
    ELSIF write ->> 'kind' = 'supersede' THEN
        SELECT m.id INTO id FROM pgrecall.memories m WHERE m.namespace_id = home AND m.external_id = key;
        IF sync_push.id IS NULL THEN
            WITH RECURSIVE later AS (
                SELECT m.id, m.superseded_by FROM pgrecall.memories m WHERE m.id = stored.id
                UNION
                SELECT m.id, m.superseded_by FROM later p JOIN pgrecall.memories m ON m.id = p.superseded_by
            )
            SELECT m.* INTO head FROM later p JOIN pgrecall.memories m ON m.id = p.id WHERE p.superseded_by IS NULL;
            fields := jsonb_build_object('metadata', stored.metadata, 'importance', stored.importance)
                      || jsonb_strip_nulls(fields - 'metadata')
                      || CASE WHEN fields -> 'metadata' <> 'null' THEN jsonb_build_object('metadata', fields -> 'metadata')
                              ELSE '{}' END;
            IF is_theirs AND (stored.superseded_by IS NOT NULL OR stored.deleted_at IS NOT NULL) THEN
                outcome := 'theirs';
                id := _pgrecall.store_losing_version(head, _pgrecall.version_fields(stored) || fields, key, 'mine');
                kept := sync_push.id;
            ELSE
                id := _pgrecall.copy_memory(stored, fields || jsonb_build_object('external_id', key));
                IF head.deleted_at IS NULL THEN
                    PERFORM public.supersede(
                        head.id, successor => sync_push.id, occurred_at => (fields ->> 'occurred_at')::timestamptz
                    );
                END IF;
                IF stored.superseded_by IS NOT NULL OR stored.deleted_at IS NOT NULL THEN
                    outcome := 'mine';
                    kept := NULLIF(head.id, stored.id);
                END IF;
            END IF;
        END IF;
    END IF;
    -- A successor that is there has no occurred_at of the write: that is when the other one ended. has_given_fields() takes a text
    -- without its secrets for the given one.
    SELECT m.updated_at, m.is_sensitive, outcome = 'applied' AND m.secrets IS NULL AND COALESCE(_pgrecall.has_given_fields(
        m, fields - CASE WHEN fields ? 'successor' THEN '{successor,occurred_at}' ELSE '{namespace}'::text[] END
    ), true)
    INTO updated_at, is_sensitive, is_as_given
    FROM pgrecall.memories m
    WHERE m.id = sync_push.id;
    written_at := now();
    transaction := pg_current_xact_id()::text;
    RETURN NEXT;
END
$function$;

ALTER FUNCTION pgrecall.sync_push OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.sync_push TO pgrecall_writer;
