-- Releases the extraction leases of a worker. Returns how many there were.
CREATE OR REPLACE FUNCTION pgrecall.release_extractions(worker uuid)
RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    released integer;
BEGIN
    UPDATE pgrecall.extractions x SET ticket = NULL, worker_id = NULL, lease_expires_at = NULL WHERE x.worker_id = worker;
    GET DIAGNOSTICS released = ROW_COUNT;
    RETURN released;
END
$function$;

COMMENT ON FUNCTION pgrecall.release_extractions IS 'Releases the extraction leases of a worker. Returns how many there were.';

ALTER FUNCTION pgrecall.release_extractions OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.release_extractions TO pgrecall_embedder;
