-- Says that a worker has stopped.
CREATE OR REPLACE FUNCTION pgrecall.retire(worker uuid)
RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
BEGIN ATOMIC
    DELETE FROM pgrecall.workers w WHERE w.id = worker;
END;

COMMENT ON FUNCTION pgrecall.retire IS 'Says that a worker has stopped.';

ALTER FUNCTION pgrecall.retire OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.retire TO pgrecall_embedder;
