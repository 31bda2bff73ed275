-- Flushes the namespaces with the most pending postings; returns the number of changed memories, 0 if there is nothing to do.
--
-- A call counts what waits in every namespace, so it flushes more than one of them: until 10,000 memories are done or half a
-- second has passed, when no further namespace is begun. With one a call, thousands of small ones would be counted thousands of times.
--
-- Embedders call it in the background until it returns 0. Writers flush at some commits
-- (_pgrecall.flush_pending_on_commit), so postings stay current without an embedder too. It is SECURITY DEFINER,
-- because the caller need not see the memories.
--
-- at_least  skip namespaces with fewer pending changes; recall scores those quickly without postings
CREATE OR REPLACE FUNCTION pgrecall.flush_pending_postings(at_least integer DEFAULT 64)
RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
SET debug_print_plan = off
AS $function$
DECLARE
    enough CONSTANT integer := 10000;
    ends_at CONSTANT timestamptz := clock_timestamp() + interval '500 milliseconds';
    home integer;
    folded bigint := 0::bigint;
BEGIN
    LOCK TABLE pgrecall.memories IN ACCESS SHARE MODE;  -- first, in the lock order of TRUNCATE
    FOR home IN
        SELECT u.namespace_id FROM pgrecall.pending_postings u
        GROUP BY u.namespace_id HAVING count(*) >= at_least
        ORDER BY count(*) DESC
    LOOP
        -- What its rows refer to. Who holds locks of one namespace must not wait for those of another.
        PERFORM FROM pgrecall.namespaces n WHERE n.id = home FOR KEY SHARE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        folded := folded + _pgrecall.flush_pending(home);
        EXIT WHEN folded >= enough OR folded > 0 AND clock_timestamp() > ends_at;
    END LOOP;
    RETURN folded;
END
$function$;

ALTER FUNCTION pgrecall.flush_pending_postings OWNER TO pgrecall_engine;

GRANT EXECUTE ON FUNCTION pgrecall.flush_pending_postings TO pgrecall_embedder;
