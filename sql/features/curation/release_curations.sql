-- Releases the leases of a worker, as release() does. Daemons of earlier versions call it. Returns how many there were.
CREATE OR REPLACE FUNCTION pgrecall.release_curations(worker uuid)
RETURNS integer
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
BEGIN ATOMIC
    SELECT _pgrecall.release_jobs(worker);
END;

ALTER FUNCTION pgrecall.release_curations OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.release_curations TO pgrecall_embedder;
