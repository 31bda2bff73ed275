-- Ends a worker's lease on a memory that could not be embedded. Retries with backoff; after five attempts the memory has failed.
--
-- The time between two attempts doubles, from 30 seconds to an hour, with a jitter of a quarter. After five attempts the
-- memory has failed: it still counts as pending, embedding_failures holds the cause, and it is no longer retried until its
-- text changes or retry_failures() is called. One attempt is enough for the cause "unreadable": the model does not know the
-- language of the text. Does nothing if the worker no longer holds the lease.
--
-- error       what went wrong, without the memory's content;  cause  one word for it
-- generation  NULL: the active one
CREATE OR REPLACE FUNCTION pgrecall.fail(
    worker uuid, memory_id bigint, error text, cause text DEFAULT 'error', generation integer DEFAULT NULL
)
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
#variable_conflict use_column
DECLARE
    most_attempts CONSTANT integer := 5;
    made_for integer := COALESCE(fail.generation, pgrecall.active_generation());
    tried integer;
BEGIN
    -- Waits for nobody: if another transaction is changing or erasing the memory, the lease stays until it expires.
    PERFORM FROM pgrecall.memories m WHERE m.id = fail.memory_id FOR KEY SHARE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM FROM pgrecall.embedding_jobs j
    WHERE j.memory_id = fail.memory_id AND j.generation_id = made_for AND j.worker_id = worker
    FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    UPDATE pgrecall.embedding_jobs j
    SET lease_expires_at = NULL, worker_id = NULL, ticket = NULL, attempts = j.attempts + 1, last_error = left(error, 500),
        next_attempt_at = clock_timestamp()
            + least(interval '30 seconds' * 2 ^ j.attempts, interval '1 hour') * (0.75 + random() / 2)
    WHERE j.memory_id = fail.memory_id AND j.generation_id = made_for AND j.worker_id = worker
    RETURNING j.attempts INTO tried;
    -- Two workers may have had it, and the other has reported it as failed.
    IF tried IS NOT NULL AND (
        tried >= most_attempts OR fail.cause = 'unreadable'
        OR EXISTS (SELECT FROM pgrecall.embedding_failures f WHERE f.memory_id = fail.memory_id AND f.generation_id = made_for)
    ) THEN
        INSERT INTO pgrecall.embedding_failures (memory_id, generation_id, attempts, cause, error)
        VALUES (fail.memory_id, made_for, tried, left(fail.cause, 60), left(fail.error, 500))
        ON CONFLICT DO NOTHING;
        DELETE FROM pgrecall.embedding_jobs j WHERE j.memory_id = fail.memory_id AND j.generation_id = made_for;
    END IF;
END
$function$;

ALTER FUNCTION pgrecall.fail OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.fail TO pgrecall_embedder;
