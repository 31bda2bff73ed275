-- Ends a worker's lease on a memory that could not be embedded; it may be claimed again after a while.
--
-- error  what went wrong, without the memory's content
CREATE OR REPLACE FUNCTION pgrecall.fail(
    worker uuid, memory_id bigint, error text, retry_after interval DEFAULT '1 minute'
)
RETURNS void
LANGUAGE sql VOLATILE
BEGIN ATOMIC
    UPDATE pgrecall.embedding_jobs j
    SET lease_expires_at = NULL, worker_id = NULL, attempts = j.attempts + 1,
        next_attempt_at = clock_timestamp() + retry_after, last_error = left(error, 500)
    WHERE j.memory_id = fail.memory_id AND j.worker_id = worker;
END;

COMMENT ON FUNCTION pgrecall.fail IS 'Ends a lease on a memory that could not be embedded, with the reason and when to try again.';
