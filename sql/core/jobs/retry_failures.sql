-- Retries failed memories (embedding_failures). Returns how many.
--
-- cause, memory_id  filters; NULL: all
CREATE OR REPLACE FUNCTION pgrecall.retry_failures(cause text DEFAULT NULL, memory_id bigint DEFAULT NULL)
RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    freed bigint;
BEGIN
    DELETE FROM pgrecall.embedding_failures f
    WHERE (retry_failures.cause IS NULL OR f.cause = retry_failures.cause)
      AND (retry_failures.memory_id IS NULL OR f.memory_id = (SELECT _pgrecall.seen_id('memory', retry_failures.memory_id)));
    GET DIAGNOSTICS freed = ROW_COUNT;
    IF freed > 0 THEN
        PERFORM _pgrecall.send_notification('pgrecall_embed');
    END IF;
    RETURN freed;
END
$function$;

ALTER FUNCTION pgrecall.retry_failures OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.retry_failures TO pgrecall_writer;
