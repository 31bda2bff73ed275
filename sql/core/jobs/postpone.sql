-- Ends leases of a worker on what it could not store now, so that any worker claims it again some seconds later.
--
-- It counts as no attempt: another transaction had a memory or its job locked. Waits for nobody: what is still locked keeps its lease,
-- which ends unless it is renewed. Embeddings need no call: complete_claimed() releases what it could not store.
--
-- tickets  of what it works on no more; those that are void already are ignored
CREATE OR REPLACE FUNCTION pgrecall.postpone(worker uuid, tickets bigint[])
RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
BEGIN ATOMIC
    SELECT _pgrecall.postpone_jobs(j.kind, jsonb_agg(jsonb_build_object('memory_id', j.memory_id, 'ticket', j.ticket)))
    FROM pgrecall.jobs j
    WHERE j.worker_id = worker AND j.ticket = ANY (tickets) AND j.generation_id = 0
    GROUP BY j.kind;
END;

ALTER FUNCTION pgrecall.postpone OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.postpone TO pgrecall_embedder;
