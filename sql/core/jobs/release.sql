-- Releases the leases of a worker. Returns how many there were.
--
-- generation  NULL: all generations
CREATE OR REPLACE FUNCTION pgrecall.release(worker uuid, generation integer DEFAULT NULL)
RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    released integer;
BEGIN
    -- Those of memories that another transaction is changing expire by themselves.
    WITH held AS MATERIALIZED (
        SELECT o.memory_id, o.generation_id, o.attempts FROM pgrecall.embedding_jobs o
        WHERE o.worker_id = worker AND o.generation_id = COALESCE(release.generation, o.generation_id)
        FOR UPDATE SKIP LOCKED
    ), dropped AS (
        DELETE FROM pgrecall.embedding_jobs j USING held h
        WHERE j.memory_id = h.memory_id AND j.generation_id = h.generation_id AND h.attempts = 0
    ), kept AS (
        -- Memories with failed attempts keep their history.
        UPDATE pgrecall.embedding_jobs j SET worker_id = NULL, ticket = NULL, lease_expires_at = NULL FROM held h
        WHERE j.memory_id = h.memory_id AND j.generation_id = h.generation_id AND h.attempts > 0
    )
    SELECT count(*)::integer INTO released FROM held;
    RETURN released;
END
$function$;

ALTER FUNCTION pgrecall.release OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.release TO pgrecall_embedder;
