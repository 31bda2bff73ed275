-- Forgets or erases memories whose expires_at has come or that are older than pgrecall.set_retention() allows; returns how
-- many of each.
--
-- The daemon calls it every minute, and again at once while there is more. Nothing depends on when: recall never returns a
-- memory whose expires_at has come. It runs as pgrecall_engine, and does nothing but what expires_at and the retention rules
-- say, on the rows as they are when it holds their locks.
--
-- Rows that another session has locked are left for the next call. A namespace in which anything else stays locked costs a
-- tenth of a second, and is left too; the others go on, in random order. No namespace is begun after two seconds. One with a rule
-- and nothing due costs a look into an index, and no lock.
--
-- max_memories  at most so many of each namespace, and of each of its rules, in one call, 1 to 100000
--
-- Errors  22023 max_memories out of range;  55000 not under read committed
CREATE OR REPLACE FUNCTION pgrecall.expire_memories(max_memories integer DEFAULT 1000)
RETURNS TABLE (forgotten integer, erased integer)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
SET debug_print_plan = off
SET lock_timeout = '100ms'
AS $function$
DECLARE
    ends_at CONSTANT timestamptz := clock_timestamp() + interval '2 seconds';
    home integer;
BEGIN
    PERFORM _pgrecall.check_batch_size(max_memories);
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'expiry needs the isolation level read committed'
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = 'An older snapshot would miss what was kept meanwhile. Run it in a READ COMMITTED transaction.';
    END IF;
    forgotten := 0;
    erased := 0;
    FOR home IN
        SELECT d.id
        FROM (
            SELECT m.namespace_id AS id FROM pgrecall.memories m WHERE m.expires_at <= now() AND m.deleted_at IS NULL
            UNION
            SELECT r.namespace_id FROM pgrecall.retention r WHERE EXISTS (SELECT FROM _pgrecall.outdated_memories(r, 1))
        ) d
        ORDER BY random()
    LOOP
        EXIT WHEN clock_timestamp() > ends_at;
        BEGIN
            forgotten := forgotten + _pgrecall.expire_namespace(home, 'forget', max_memories, ends_at);
        EXCEPTION
            WHEN lock_not_available THEN
                CONTINUE;
        END;
        erased := erased + _pgrecall.expire_namespace(home, 'erase', max_memories, ends_at);
    END LOOP;
    RETURN NEXT;
END
$function$;

ALTER FUNCTION pgrecall.expire_memories OWNER TO pgrecall_engine;

GRANT EXECUTE ON FUNCTION pgrecall.expire_memories TO pgrecall_embedder;
