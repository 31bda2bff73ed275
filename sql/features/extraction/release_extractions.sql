-- Releases the extraction leases of a worker. Returns how many there were.
CREATE OR REPLACE FUNCTION pgrecall.release_extractions(worker uuid)
RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    released integer;
BEGIN
    UPDATE pgrecall.extractions x SET ticket = NULL, worker_id = NULL, lease_expires_at = NULL
    -- Those of memories that another transaction is changing expire by themselves.
    FROM (
        SELECT o.memory_id, o.enricher FROM pgrecall.extractions o WHERE o.worker_id = worker FOR UPDATE SKIP LOCKED
    ) held
    WHERE x.memory_id = held.memory_id AND x.enricher = held.enricher;
    GET DIAGNOSTICS released = ROW_COUNT;
    RETURN released;
END
$function$;

ALTER FUNCTION pgrecall.release_extractions OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.release_extractions TO pgrecall_embedder;
