-- Leases new memories to a worker for curation, once they are extracted and embedded. Returns each with its ticket for
-- curate_claimed().
--
-- Half of a batch are the oldest memories, the other half the oldest of as many namespaces as possible (job_choice).
--
-- A memory without an embedding is claimed if no model is active or if its embedding has failed; it is then compared by
-- words. An expired lease counts as an attempt; after five the memory has failed.
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
    SELECT g.* INTO active FROM pgrecall.generations g WHERE g.id = pgrecall.active_generation();
    RETURN QUERY SELECT l.memory_id, l.ticket FROM _pgrecall.lease_jobs('curation', worker, batch, lease, active) l;
END
$function$;

ALTER FUNCTION pgrecall.claim_curations OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.claim_curations TO pgrecall_embedder;
