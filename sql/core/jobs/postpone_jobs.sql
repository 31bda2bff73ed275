-- Ends the leases of jobs that could not be completed now, so that they are claimed again some seconds later.
--
-- It counts as no attempt: another transaction holds something of their namespace. Waits for nobody itself.
--
-- items  [{"memory_id", "ticket", …}]
CREATE OR REPLACE FUNCTION _pgrecall.postpone_jobs(kind text, items jsonb)
RETURNS void
LANGUAGE sql VOLATILE
BEGIN ATOMIC
    WITH held AS MATERIALIZED (
        SELECT o.memory_id
        FROM jsonb_array_elements(items) r (item)
        CROSS JOIN LATERAL (
            SELECT x.memory_id FROM pgrecall.jobs x
            WHERE x.memory_id = (r.item ->> 'memory_id')::bigint AND x.kind = postpone_jobs.kind AND x.generation_id = 0
              AND x.ticket = (r.item ->> 'ticket')::bigint
            LIMIT 1
            FOR UPDATE SKIP LOCKED
        ) o
    )
    UPDATE pgrecall.jobs x
    SET ticket = NULL, worker_id = NULL, lease_expires_at = NULL,
        next_attempt_at = clock_timestamp() + interval '10 seconds' * (1 + random())
    FROM held h
    WHERE x.memory_id = h.memory_id AND x.kind = postpone_jobs.kind AND x.generation_id = 0;
END;
