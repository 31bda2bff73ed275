-- Releases the leases of a worker. Returns how many there were.
--
-- generation  NULL: all generations
CREATE OR REPLACE FUNCTION pgrecall.release(worker uuid, generation integer DEFAULT NULL)
RETURNS integer
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
BEGIN ATOMIC
    SELECT _pgrecall.release_jobs(worker, release.generation);
END;

ALTER FUNCTION pgrecall.release OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.release TO pgrecall_embedder;
