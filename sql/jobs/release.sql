-- Releases the leases of a worker. Returns how many there were.
--
-- generation  NULL: all generations
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
    -- Memories with failed attempts keep their history.
    UPDATE pgrecall.embedding_jobs j SET worker_id = NULL, ticket = NULL, lease_expires_at = NULL
    WHERE j.worker_id = worker AND j.generation_id = COALESCE(release.generation, j.generation_id);
    GET DIAGNOSTICS more = ROW_COUNT;
    RETURN released + more;
END
$function$;

COMMENT ON FUNCTION pgrecall.release IS 'Releases the leases of a worker. Returns how many there were.';

ALTER FUNCTION pgrecall.release OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.release TO pgrecall_embedder;
