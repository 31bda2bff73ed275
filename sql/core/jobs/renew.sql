-- Extends the leases that a worker has in hand. Returns how many it still holds.
--
-- A daemon calls it several times in the course of a lease. So a lease may be short, that another worker soon takes over from one that
-- was killed, and what takes longer is still not begun twice. Leases that another transaction has locked stay as they are.
--
-- tickets  of what it works on; whatever else it holds ends as it is
-- lease    from now on; those with more than two thirds of it left stay as they are
--
-- Errors  22023 a lease out of range
CREATE OR REPLACE FUNCTION pgrecall.renew(worker uuid, tickets bigint[], lease interval)
RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
BEGIN
    PERFORM _pgrecall.check_claim(0, lease);
    UPDATE pgrecall.jobs j
    SET lease_expires_at = clock_timestamp() + renew.lease
    FROM (
        SELECT o.memory_id, o.kind, o.generation_id
        FROM pgrecall.jobs o
        WHERE o.worker_id = renew.worker AND o.ticket = ANY (tickets)
          AND o.lease_expires_at NOT BETWEEN clock_timestamp() + renew.lease * 2 / 3 AND clock_timestamp() + renew.lease
        FOR UPDATE SKIP LOCKED
    ) late
    WHERE j.memory_id = late.memory_id AND j.kind = late.kind AND j.generation_id = late.generation_id;
    RETURN (SELECT count(*)::integer FROM pgrecall.jobs j WHERE j.worker_id = renew.worker AND j.ticket = ANY (tickets));
END
$function$;

ALTER FUNCTION pgrecall.renew OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.renew TO pgrecall_embedder;
