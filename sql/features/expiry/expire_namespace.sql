-- Forgets or erases memories of one namespace that are due, and returns how many of each.
--
-- Whether a memory is due is decided after its row is locked, on the row as it is then: who has extended or restored it
-- meanwhile keeps it. Locked rows are left for the next call, and so are memories to erase while another transaction holds the
-- namespace's postings. If anything else stays locked for longer than the caller's lock_timeout, nothing more is erased.
--
-- action   'forget' or 'erase'
-- ends_at  no erasure begins after that
--
-- Errors  55P03 a lock was not to be had while forgetting
CREATE OR REPLACE FUNCTION _pgrecall.expire_namespace(home integer, action text, max_memories integer, ends_at timestamptz)
RETURNS integer
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
#variable_conflict use_column
DECLARE
    -- Erasing takes milliseconds each, and others wait for these rows until all of a call is done.
    most CONSTANT integer := CASE action WHEN 'erase' THEN least(max_memories, 100) ELSE max_memories END;
    rule pgrecall.retention;
    due bigint[];
    more bigint[];
    doomed bigint;
    done integer := 0;
BEGIN
    IF action = 'erase' AND NOT (
        EXISTS (SELECT FROM pgrecall.retention r WHERE r.namespace_id = home AND r.action = 'erase')
        AND _pgrecall.try_lock_postings(home)
    ) THEN
        RETURN 0;
    END IF;
    -- The condition is part of the statement that locks, so PostgreSQL checks it again on a row that has changed since.
    SELECT array_agg(l.id) INTO due
    FROM (
        SELECT m.id FROM pgrecall.memories m
        WHERE m.expires_at <= now() AND m.deleted_at IS NULL AND m.namespace_id = home
          AND _pgrecall.due_action(m.namespace_id, m.category, m.created_at, m.expires_at, m.deleted_at) = expire_namespace.action
        ORDER BY m.expires_at
        LIMIT most
        FOR NO KEY UPDATE SKIP LOCKED
    ) l;
    FOR rule IN
        SELECT r.* FROM pgrecall.retention r WHERE r.namespace_id = home AND r.action = expire_namespace.action
    LOOP
        SELECT array_agg(l.id) INTO more
        FROM (
            SELECT m.id FROM pgrecall.memories m
            WHERE m.namespace_id = home AND m.created_at < now() - rule.keep
              AND (m.deleted_at IS NULL OR rule.action = 'erase') AND (m.category = rule.category OR rule.category IS NULL)
              AND _pgrecall.due_action(m.namespace_id, m.category, m.created_at, m.expires_at, m.deleted_at) = expire_namespace.action
            ORDER BY m.created_at, m.id
            LIMIT most
            FOR NO KEY UPDATE SKIP LOCKED
        ) l;
        due := due || more;
    END LOOP;
    IF action = 'forget' THEN
        UPDATE pgrecall.memories m
        SET deleted_at = now(), updated_at = now(), expires_at = least(m.expires_at, now())
        WHERE m.id = ANY (due);
        GET DIAGNOSTICS done = ROW_COUNT;
        RETURN done;
    END IF;
    FOREACH doomed IN ARRAY COALESCE(due, '{}') LOOP
        EXIT WHEN done >= most OR clock_timestamp() > ends_at;
        -- Something still refers to it if this stronger lock is not to be had.
        PERFORM FROM pgrecall.memories m WHERE m.id = doomed FOR UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        BEGIN
            PERFORM _pgrecall.erase_memory_rows(home, doomed, pgrecall.session_role()::text);
            done := done + 1;
        EXCEPTION
            WHEN no_data_found THEN
                NULL;  -- it went with another one
            WHEN lock_not_available THEN
                EXIT;
        END;
    END LOOP;
    RETURN done;
END
$function$;
