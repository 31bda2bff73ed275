-- Counts the memories of a generation that lack an embedding and cannot be claimed now: in progress, retrying, failed.
--
-- generation   NULL: the active one
--
-- in_progress  leased to workers, the calling one included;  retrying  waiting for another attempt
-- failed       no longer retried;  next_at  when the first of the others can be claimed
CREATE OR REPLACE FUNCTION pgrecall.embedding_backlog(generation integer DEFAULT NULL)
RETURNS TABLE (in_progress bigint, retrying bigint, failed bigint, next_at timestamptz)
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER ROWS 1
SET search_path FROM CURRENT
BEGIN ATOMIC
    SELECT count(j.lease_expires_at), count(j.next_attempt_at) FILTER (WHERE j.failed_at IS NULL), count(j.failed_at),
           min(COALESCE(j.lease_expires_at, j.next_attempt_at)) FILTER (WHERE j.failed_at IS NULL)
    FROM pgrecall.jobs j
    WHERE j.kind = 'embedding' AND j.generation_id = COALESCE(embedding_backlog.generation, pgrecall.active_generation());
END;

ALTER FUNCTION pgrecall.embedding_backlog OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.embedding_backlog TO pgrecall_embedder;
