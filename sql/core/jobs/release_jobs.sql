-- Releases leases of a worker, of whatever kind. Returns how many there were. It counts as no attempt.
--
-- Those that another transaction holds expire by themselves.
--
-- generation  NULL: all;  memory_ids  NULL: all
CREATE OR REPLACE FUNCTION _pgrecall.release_jobs(worker uuid, generation integer DEFAULT NULL, memory_ids bigint[] DEFAULT NULL)
RETURNS integer
LANGUAGE sql VOLATILE
BEGIN ATOMIC
    WITH held AS MATERIALIZED (
        SELECT o.memory_id, o.kind, o.generation_id, o.attempts = 0 AND o.generation_id > 0 AS is_done
        FROM pgrecall.jobs o
        WHERE o.worker_id = worker AND o.generation_id = COALESCE(release_jobs.generation, o.generation_id)
          AND (release_jobs.memory_ids IS NULL OR o.memory_id = ANY (release_jobs.memory_ids))
        FOR UPDATE SKIP LOCKED
    ), dropped AS (
        -- The memory itself says that it waits.
        DELETE FROM pgrecall.jobs j USING held h
        WHERE j.memory_id = h.memory_id AND j.kind = h.kind AND j.generation_id = h.generation_id AND h.is_done
    ), kept AS (
        UPDATE pgrecall.jobs j SET worker_id = NULL, ticket = NULL, lease_expires_at = NULL FROM held h
        WHERE j.memory_id = h.memory_id AND j.kind = h.kind AND j.generation_id = h.generation_id AND NOT h.is_done
    )
    SELECT count(*)::integer FROM held;
END;
