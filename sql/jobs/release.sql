-- Gives back every lease of a worker, and returns how many there were.
--
-- generation  only of this one; NULL: of all
CREATE OR REPLACE FUNCTION pgrecall.release(worker uuid, generation integer DEFAULT NULL)
RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    released integer;
    more integer;
BEGIN
    DELETE FROM pgrecall.embedding_jobs j
    WHERE j.worker_id = worker AND j.attempts = 0 AND j.generation_id = COALESCE(release.generation, j.generation_id);
    GET DIAGNOSTICS released = ROW_COUNT;
    -- What has failed before keeps its history.
    UPDATE pgrecall.embedding_jobs j SET worker_id = NULL, ticket = NULL, lease_expires_at = NULL
    WHERE j.worker_id = worker AND j.generation_id = COALESCE(release.generation, j.generation_id);
    GET DIAGNOSTICS more = ROW_COUNT;
    RETURN released + more;
END
$function$;

COMMENT ON FUNCTION pgrecall.release IS 'Gives back every lease of a worker, and returns how many there were.';

ALTER FUNCTION pgrecall.release OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.release TO pgrecall_embedder;
