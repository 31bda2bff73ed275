-- Brings the postings of the namespace with most to do up to date; returns how many memories had changed.
--
-- 0 means that there is nothing to do.
-- Embedders call it in the background until it returns 0. Writers do the same at commit, now and then
-- (_pgrecall.flush_pending_on_commit), so that it works without an embedder too. As security definer, since whoever calls it need
-- not see the memories it is about.
--
-- at_least  leave namespaces with fewer changed memories alone: recall scores those quickly enough as they are
CREATE OR REPLACE FUNCTION pgrecall.flush_pending_postings(at_least integer DEFAULT 64)
RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    candidate record;
    folded bigint;
BEGIN
    LOCK TABLE pgrecall.memories IN ACCESS SHARE MODE;  -- before the others, as TRUNCATE does
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

COMMENT ON FUNCTION pgrecall.flush_pending_postings IS
    'Brings the postings of one namespace up to date; returns how many memories had changed, 0 if there is nothing to do.';

ALTER FUNCTION pgrecall.flush_pending_postings OWNER TO pgrecall_engine;

GRANT EXECUTE ON FUNCTION pgrecall.flush_pending_postings TO pgrecall_embedder;
