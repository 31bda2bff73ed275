-- What keeps a generation from being done, besides what can be claimed now.
--
-- leased  held by workers, this one's included;  retrying  waiting for another attempt;  parked  given up
CREATE OR REPLACE FUNCTION pgrecall.embedding_backlog(generation integer DEFAULT NULL)
RETURNS TABLE (leased bigint, retrying bigint, parked bigint, next_at timestamptz)
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER ROWS 1
SET search_path FROM CURRENT
BEGIN ATOMIC
    SELECT j.leased, j.retrying, (SELECT count(*) FROM pgrecall.embedding_failures f WHERE f.generation_id = g.id), j.next_at
    FROM (SELECT COALESCE(embedding_backlog.generation, pgrecall.active_generation()) AS id) g
    CROSS JOIN LATERAL (
        SELECT count(j.lease_expires_at) AS leased, count(j.next_attempt_at) AS retrying,
               min(COALESCE(j.lease_expires_at, j.next_attempt_at)) AS next_at
        FROM pgrecall.embedding_jobs j
        WHERE j.generation_id = g.id
    ) j;
END;

COMMENT ON FUNCTION pgrecall.embedding_backlog IS
    'What keeps a generation from being done besides what can be claimed: leases, later attempts, what was given up.';

ALTER FUNCTION pgrecall.embedding_backlog OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.embedding_backlog TO pgrecall_embedder;
