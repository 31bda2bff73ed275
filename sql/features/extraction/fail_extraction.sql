-- Ends a worker's lease after a failed extraction. Retries after the given interval; after five attempts the memory has failed.
--
-- After five attempts the memory has failed, until its text changes or reextract() is called.
--
-- retry_after  a day at most
-- error  what went wrong, without the memory's content
CREATE OR REPLACE FUNCTION pgrecall.fail_extraction(
    enricher text, memory_id bigint, ticket bigint, error text, retry_after interval DEFAULT '1 minute'
)
RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
BEGIN ATOMIC
    UPDATE pgrecall.extractions x
    SET ticket = NULL, worker_id = NULL, lease_expires_at = NULL, attempts = x.attempts + 1,
        next_attempt_at = CASE WHEN x.attempts < 4 THEN clock_timestamp() + least(retry_after, '1 day') ELSE 'infinity' END,
        last_error = left(error, 500)
    -- Waits for nobody: if another transaction is changing the memory, the lease stays until it expires.
    FROM (
        SELECT o.memory_id FROM pgrecall.extractions o
        WHERE o.memory_id = fail_extraction.memory_id AND o.enricher = fail_extraction.enricher
          AND o.ticket = fail_extraction.ticket
        FOR UPDATE SKIP LOCKED
    ) held
    WHERE x.memory_id = held.memory_id AND x.enricher = fail_extraction.enricher;
END;

ALTER FUNCTION pgrecall.fail_extraction OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.fail_extraction TO pgrecall_embedder;
