-- Releases all memories that a worker has claimed for curation. Returns how many.
CREATE OR REPLACE FUNCTION pgrecall.release_curations(worker uuid)
RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    released integer;
BEGIN
    UPDATE pgrecall.curation_jobs j
    SET ticket = NULL, worker_id = NULL, lease_expires_at = NULL, attempts = greatest(j.attempts - 1, 0)
    -- Those of memories that another transaction is changing expire by themselves.
    FROM (SELECT o.memory_id FROM pgrecall.curation_jobs o WHERE o.worker_id = worker FOR UPDATE SKIP LOCKED) held
    WHERE j.memory_id = held.memory_id;
    GET DIAGNOSTICS released = ROW_COUNT;
    RETURN released;
END
$function$;

ALTER FUNCTION pgrecall.release_curations OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.release_curations TO pgrecall_embedder;
