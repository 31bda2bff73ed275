-- Ends a worker's lease after a failed extraction. Retries after the given interval; after five attempts the memory has failed.
--
-- After five attempts the memory has failed, until its text changes, or reextract() or retry_failures() is called.
--
-- retry_after  after the first attempt, a day at most; twice as long after each other one, up to an hour
-- error  what went wrong, without the memory's content
CREATE OR REPLACE FUNCTION pgrecall.fail_extraction(
    enricher text, memory_id bigint, ticket bigint, error text, retry_after interval DEFAULT '1 minute'
)
RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
BEGIN ATOMIC
    SELECT _pgrecall.fail_job(
        fail_extraction.enricher, 0, fail_extraction.memory_id, NULL, fail_extraction.ticket, fail_extraction.error, 'error',
        fail_extraction.retry_after
    ) WHERE fail_extraction.ticket IS NOT NULL;
END;

ALTER FUNCTION pgrecall.fail_extraction OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.fail_extraction TO pgrecall_embedder;
