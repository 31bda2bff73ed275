-- Flushes the namespace with the most pending postings; returns the number of changed memories, 0 if there is nothing to do.
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
AS $function$
DECLARE
    candidate record;
    folded bigint;
BEGIN
    LOCK TABLE pgrecall.memories IN ACCESS SHARE MODE;  -- first, in the lock order of TRUNCATE
    FOR candidate IN
        SELECT u.namespace_id FROM pgrecall.pending_postings u
        GROUP BY u.namespace_id HAVING count(*) >= at_least
        ORDER BY count(*) DESC
    LOOP
        folded := _pgrecall.flush_pending(candidate.namespace_id);
        IF folded > 0 THEN
            RETURN folded;
        END IF;
    END LOOP;
    RETURN 0::bigint;
END
$function$;

ALTER FUNCTION pgrecall.flush_pending_postings OWNER TO pgrecall_engine;

GRANT EXECUTE ON FUNCTION pgrecall.flush_pending_postings TO pgrecall_embedder;
