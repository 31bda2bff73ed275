-- Leases new memories to a worker for curation, oldest first, once they are extracted and embedded.
--
-- A memory without an embedding is claimed if no model is active or if its embedding was parked; it is then compared by
-- words. curate_claimed() requires the ticket. After five failed claims a memory is not claimed again.
--
-- batch  maximum number of memories;  lease  time until another worker may claim them
--
-- Errors  22023 batch or lease out of range
CREATE OR REPLACE FUNCTION pgrecall.claim_curations(worker uuid, batch integer DEFAULT 16, lease interval DEFAULT '5 minutes')
RETURNS TABLE (memory_id bigint, ticket bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 16
SET search_path FROM CURRENT
AS $function$
DECLARE
    active pgrecall.generations;
BEGIN
    PERFORM _pgrecall.check_claim(batch, lease);
    -- This lock keeps the column from being dropped.
    PERFORM FROM pgrecall.memories m WHERE false;
    SELECT g.* INTO active FROM pgrecall.generations g WHERE g.id = pgrecall.active_generation();
    -- Uses the column's name, as claim() does: embedding_of() takes whole rows, which the embedder's role may not read.
    RETURN QUERY EXECUTE format($statement$
        WITH free AS MATERIALIZED (
            SELECT j.memory_id
            FROM pgrecall.curation_jobs j
            JOIN pgrecall.memories m ON m.id = j.memory_id AND NOT m.is_sensitive
            WHERE NOT _pgrecall.is_ahead(j.lease_expires_at) AND j.attempts < 5
              AND (m.%1$I IS NOT NULL OR m.deleted_at IS NOT NULL OR $4
                   OR EXISTS (SELECT FROM pgrecall.embedding_failures f WHERE f.memory_id = m.id AND f.generation_id = $5))
            ORDER BY j.memory_id
            LIMIT $2
            FOR UPDATE OF j SKIP LOCKED
        )
        UPDATE pgrecall.curation_jobs j
        SET worker_id = $1, lease_expires_at = clock_timestamp() + $3, attempts = j.attempts + 1,
            ticket = _pgrecall.random_ticket()
        FROM free f
        WHERE j.memory_id = f.memory_id
        RETURNING j.memory_id, j.ticket
    $statement$, active.column_name)
    USING worker, batch, lease, active.model_id IS NULL, active.id;
END
$function$;

COMMENT ON FUNCTION pgrecall.claim_curations IS
    'Leases new memories to a worker for curation, oldest first, once they are extracted and embedded. Returns each'
    ' with its ticket for curate_claimed().';

ALTER FUNCTION pgrecall.claim_curations OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.claim_curations TO pgrecall_embedder;
