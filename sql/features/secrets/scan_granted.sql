-- Runs scan_secrets() as pgrecall_engine, in a namespace that the session's role may write.
--
-- As the engine, because no role changes a history, and row-level security would keep the batch from its index.
--
-- The memories are read without locks; those that hold something are locked and read again, in the order of erase_granted(). If
-- something is redacted, its words leave the postings in the same transaction.
--
-- counts  memories by kind
--
-- Errors  22023 max_memories out of range;  55000 not under read committed;  55P03 the postings are in use for longer than ten seconds
CREATE OR REPLACE FUNCTION _pgrecall.scan_granted(
    namespace_id integer, after_id bigint, max_memories integer, dry_run boolean,
    OUT last_id bigint, OUT scanned integer, OUT redacted integer, OUT marked integer, OUT counts jsonb
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
SET debug_print_plan = off
AS $function$
DECLARE
    home CONSTANT integer := scan_granted.namespace_id;
    one pgrecall.memories;
    told record;
    ids bigint[] := '{}'::bigint[];
    kinds text[] := '{}'::text[];
    wanted bigint;
BEGIN
    scanned := 0;
    redacted := 0;
    marked := 0;
    counts := '{}'::jsonb;
    IF NOT _pgrecall.sees_namespace(pgrecall.session_role(), home, true) THEN
        RETURN;
    END IF;
    PERFORM _pgrecall.check_batch_size(max_memories);
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'a scan for secrets needs the isolation level read committed'
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = 'An older snapshot would miss what was changed meanwhile. Run it in a READ COMMITTED transaction.';
    END IF;
    -- EXECUTE: planned with its arguments, it reads memories_namespace_id_idx up to the limit.
    FOR one IN EXECUTE
        'SELECT m.* FROM pgrecall.memories m WHERE m.namespace_id = $1 AND m.id + 0 > $2 ORDER BY m.id + 0 LIMIT $3'
        USING home, COALESCE(after_id, 0), max_memories
    LOOP
        scanned := scanned + 1;
        last_id := one.id;
        SELECT s.kinds, s.is_redacted, s.is_marked INTO told FROM _pgrecall.scan_memory(one, true) s;
        CONTINUE WHEN told.kinds IS NULL;
        ids := ids || one.id;
        IF dry_run THEN
            kinds := kinds || ARRAY(SELECT DISTINCT k.kind FROM unnest(told.kinds) k (kind));
        END IF;
        redacted := redacted + told.is_redacted::integer;
        marked := marked + told.is_marked::integer;
    END LOOP;
    IF scanned < max_memories THEN
        last_id := NULL;
    END IF;
    IF NOT dry_run AND cardinality(ids) > 0 THEN
        IF redacted > 0 THEN
            PERFORM _pgrecall.lock_postings(home);
        END IF;
        redacted := 0;
        marked := 0;
        PERFORM _pgrecall.lock_with_notes(ids);
        FOREACH wanted IN ARRAY ids LOOP
            SELECT m.* INTO one FROM pgrecall.memories m WHERE m.id = wanted AND m.namespace_id + 0 = home;
            CONTINUE WHEN NOT FOUND;
            SELECT s.kinds, s.is_redacted, s.is_marked INTO told FROM _pgrecall.scan_memory(one, false) s;
            CONTINUE WHEN told.kinds IS NULL;
            kinds := kinds || ARRAY(SELECT DISTINCT k.kind FROM unnest(told.kinds) k (kind));
            redacted := redacted + told.is_redacted::integer;
            marked := marked + told.is_marked::integer;
        END LOOP;
        IF redacted > 0 THEN
            WHILE EXISTS (SELECT FROM pgrecall.pending_postings u WHERE u.namespace_id = home AND u.memory_id = ANY (ids)) LOOP
                EXIT WHEN _pgrecall.flush_pending(home) = 0;
            END LOOP;
            UPDATE pgrecall.posting_states s SET compacted_to = ''
            WHERE s.namespace_id = home
              AND NOT EXISTS (SELECT FROM pgrecall.term_stats t WHERE t.namespace_id = home AND t.term = s.compacted_to);
        END IF;
    END IF;
    SELECT COALESCE(jsonb_object_agg(g.kind, g.memories), '{}') INTO counts
    FROM (SELECT k.kind, count(*) AS memories FROM unnest(kinds) k (kind) GROUP BY k.kind) g;
END
$function$;

ALTER FUNCTION _pgrecall.scan_granted OWNER TO pgrecall_engine;
