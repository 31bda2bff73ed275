-- Ends jobs whose worker was lost at their last attempt: they have failed. Every claim does so first.
CREATE OR REPLACE FUNCTION _pgrecall.rescue_jobs(kind text, generation integer)
RETURNS void
LANGUAGE sql VOLATILE
BEGIN ATOMIC
    UPDATE pgrecall.jobs j
    SET failed_at = now(), attempts = j.attempts + 1, cause = 'worker_lost', last_error = 'its worker was not heard of again',
        worker_id = NULL, ticket = NULL, lease_expires_at = NULL, next_attempt_at = NULL
    FROM (
        SELECT l.memory_id FROM pgrecall.jobs l
        WHERE l.kind = rescue_jobs.kind AND l.generation_id = rescue_jobs.generation
          AND l.attempts >= _pgrecall.max_attempts() - 1 AND l.failed_at IS NULL
          AND l.lease_expires_at IS NOT NULL AND NOT _pgrecall.is_ahead(l.lease_expires_at)
        FOR UPDATE SKIP LOCKED
    ) lost
    WHERE j.memory_id = lost.memory_id AND j.kind = rescue_jobs.kind AND j.generation_id = rescue_jobs.generation;
END;
