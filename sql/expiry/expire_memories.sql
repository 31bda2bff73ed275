-- expire_memories: forgets or erases memories that are due, and returns how many of each.
--
-- The daemon calls it every minute. Nothing depends on when: recall never returns a memory whose expires_at has come. It
-- runs as pgrecall_engine, and does nothing but what expires_at and the retention rules say. Rows that another session has
-- locked are left for the next call, so it waits for nobody. Erasing takes the lock of the namespace's postings (erase): if that is
-- taken for too long, the memory is left too.
--
-- max_memories  at most so many of each namespace's rule in one call, 1 to 100000
--
-- Errors  22023 max_memories out of range
CREATE OR REPLACE FUNCTION pgrecall.expire_memories(max_memories integer DEFAULT 1000)
RETURNS TABLE (forgotten integer, erased integer)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    due record;
BEGIN
    IF max_memories IS NULL OR max_memories NOT BETWEEN 1 AND 100000 THEN
        RAISE EXCEPTION 'max_memories must be between 1 and 100000, not %', COALESCE(max_memories::text, 'NULL')
            USING ERRCODE = 'invalid_parameter_value', HINT = 'The default is 1000.';
    END IF;
    WITH free AS (
        SELECT m.id
        FROM pgrecall.memories m
        WHERE m.id IN (SELECT d.id FROM _pgrecall.due_memories(max_memories) d WHERE d.action = 'forget') AND m.deleted_at IS NULL
        ORDER BY m.id
        FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE pgrecall.memories m
    SET deleted_at = now(), updated_at = now(), expires_at = least(m.expires_at, now())
    FROM free
    WHERE m.id = free.id;
    GET DIAGNOSTICS forgotten = ROW_COUNT;

    erased := 0;
    FOR due IN
        SELECT d.id, d.namespace_id FROM _pgrecall.due_memories(max_memories) d WHERE d.action = 'erase'
        ORDER BY d.namespace_id, d.id
        LIMIT max_memories
    LOOP
        PERFORM FROM pgrecall.memories m WHERE m.id = due.id FOR UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        BEGIN
            PERFORM _pgrecall.erase_memory_rows(due.namespace_id, due.id, pgrecall.session_role()::text);
            erased := erased + 1;
        EXCEPTION
            WHEN lock_not_available OR no_data_found THEN
                NULL;
        END;
    END LOOP;
    RETURN NEXT;
END
$function$;

COMMENT ON FUNCTION pgrecall.expire_memories IS
    'Forgets or erases memories whose expires_at has come or that are older than pgrecall.set_retention() allows; returns how many.';

ALTER FUNCTION pgrecall.expire_memories OWNER TO pgrecall_engine;

GRANT EXECUTE ON FUNCTION pgrecall.expire_memories TO pgrecall_embedder;
