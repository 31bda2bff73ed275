-- Retries failed jobs (failures). Returns how many.
--
-- cause, memory_id, kind  filters; NULL: all
CREATE OR REPLACE FUNCTION pgrecall.retry_failures(cause text DEFAULT NULL, memory_id bigint DEFAULT NULL, kind text DEFAULT NULL)
RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    freed bigint;
BEGIN
    WITH freed AS MATERIALIZED (
        SELECT f.memory_id, f.kind, f.generation_id
        FROM pgrecall.jobs f
        WHERE f.failed_at IS NOT NULL AND (retry_failures.cause IS NULL OR f.cause = retry_failures.cause)
          AND (retry_failures.kind IS NULL OR f.kind = retry_failures.kind)
          AND (retry_failures.memory_id IS NULL OR f.memory_id = (SELECT _pgrecall.seen_id('memory', retry_failures.memory_id)))
        ORDER BY f.memory_id, f.kind
        FOR UPDATE
    ), dropped AS (
        -- The memory itself says that it waits.
        DELETE FROM pgrecall.jobs j USING freed f
        WHERE j.memory_id = f.memory_id AND j.kind = f.kind AND j.generation_id = f.generation_id AND f.generation_id > 0
    ), kept AS (
        UPDATE pgrecall.jobs j
        SET failed_at = NULL, cause = NULL, last_error = NULL, attempts = 0, next_attempt_at = NULL, waiting_since = now()
        FROM freed f
        WHERE j.memory_id = f.memory_id AND j.kind = f.kind AND j.generation_id = f.generation_id AND f.generation_id = 0
    )
    SELECT count(*) INTO freed FROM freed;
    IF freed > 0 THEN
        PERFORM _pgrecall.send_notification('pgrecall_embed');
    END IF;
    RETURN freed;
END
$function$;

ALTER FUNCTION pgrecall.retry_failures OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.retry_failures TO pgrecall_writer;
