-- Ends a worker's lease on a memory that could not be embedded. Retries with backoff; after five attempts the memory has failed.
--
-- The time between two attempts doubles, from 30 seconds to an hour, with a jitter of a quarter. After five attempts the
-- memory has failed: it still counts as pending, failures() has the cause, and it is no longer retried until its
-- text changes or retry_failures() is called. One attempt is enough for the cause "unreadable": the model does not know the
-- language of the text. Does nothing if the worker no longer holds the lease.
--
-- error       what went wrong, without the memory's content;  cause  one word for it
-- generation  NULL: the active one
CREATE OR REPLACE FUNCTION pgrecall.fail(
    worker uuid, memory_id bigint, error text, cause text DEFAULT 'error', generation integer DEFAULT NULL
)
RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
BEGIN ATOMIC
    SELECT _pgrecall.fail_job(
        'embedding', COALESCE(fail.generation, pgrecall.active_generation()), fail.memory_id, fail.worker, NULL, fail.error,
        fail.cause, NULL
    );
END;

ALTER FUNCTION pgrecall.fail OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.fail TO pgrecall_embedder;
