-- Says that a worker has stopped.
CREATE OR REPLACE FUNCTION pgrecall.retire(worker uuid)
RETURNS void
LANGUAGE sql VOLATILE
BEGIN ATOMIC
    DELETE FROM pgrecall.workers w WHERE w.id = worker;
END;

COMMENT ON FUNCTION pgrecall.retire IS 'Says that a worker has stopped.';
