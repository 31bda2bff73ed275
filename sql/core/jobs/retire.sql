-- Removes a worker that stops from the list of workers.
CREATE OR REPLACE FUNCTION pgrecall.retire(worker uuid)
RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
BEGIN ATOMIC
    DELETE FROM pgrecall.workers w WHERE w.id = worker;
END;

ALTER FUNCTION pgrecall.retire OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.retire TO pgrecall_embedder;
