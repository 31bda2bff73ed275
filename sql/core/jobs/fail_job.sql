-- Ends a worker's lease on a job that failed, and schedules the next attempt. After max_attempts() the job has failed.
--
-- One attempt is enough for the cause "unreadable": the model does not know the characters of the text. Waits for nobody: if
-- another transaction holds the row, the lease stays until it expires. Does nothing if the worker no longer holds the lease.
--
-- worker, ticket  of the lease; NULL: not asked for
-- retry_after     wait after the first attempt (retry_delay); NULL: 30 seconds
CREATE OR REPLACE FUNCTION _pgrecall.fail_job(
    kind text, generation integer, memory_id bigint, worker uuid, ticket bigint, error text, cause text, retry_after interval
)
RETURNS void
LANGUAGE sql VOLATILE
BEGIN ATOMIC
    UPDATE pgrecall.jobs j
    SET ticket = NULL, worker_id = NULL, lease_expires_at = NULL, attempts = j.attempts + 1,
        last_error = left(fail_job.error, 500), cause = left(fail_job.cause, 60),
        failed_at = CASE WHEN held.is_last THEN now() END,
        next_attempt_at = CASE WHEN NOT held.is_last THEN
            clock_timestamp() + _pgrecall.retry_delay(j.attempts, COALESCE(fail_job.retry_after, '30 seconds'))
        END
    FROM (
        SELECT o.memory_id, COALESCE(fail_job.cause = 'unreadable', false) OR o.attempts + 1 >= _pgrecall.max_attempts() AS is_last
        FROM pgrecall.jobs o
        WHERE o.memory_id = fail_job.memory_id AND o.kind = fail_job.kind AND o.generation_id = fail_job.generation
          AND o.lease_expires_at IS NOT NULL
          AND o.worker_id = COALESCE(fail_job.worker, o.worker_id) AND o.ticket = COALESCE(fail_job.ticket, o.ticket)
        FOR UPDATE SKIP LOCKED
    ) held
    WHERE j.memory_id = held.memory_id AND j.kind = fail_job.kind AND j.generation_id = fail_job.generation;
END;
