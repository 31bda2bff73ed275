-- Queues memories for another extraction of names, times and facts: those extracted by another version, or all. Returns how many.
--
-- Existing results stay until they are replaced. Each memory's row in extractions is locked first: a writer that makes the
-- memory sensitive or forgets it deletes the row, and then this function does not insert it again.
--
-- namespace  NULL: every namespace
-- enricher   text, llm or notes; notes are made of messages only (remember_messages)
-- version    only memories extracted by another version; NULL: all, failed ones included
--
-- Errors  42704 no such namespace
CREATE OR REPLACE FUNCTION pgrecall.reextract(
    namespace text DEFAULT NULL, version text DEFAULT NULL, enricher text DEFAULT 'text'
)
RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    chosen integer;
    noted bigint;
BEGIN
    IF enricher IS NULL OR enricher NOT IN ('text', 'llm', 'notes') THEN
        RAISE EXCEPTION '"%" is not an enricher', left(enricher, 40)
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass text, llm or notes.';
    END IF;
    IF namespace IS NOT NULL THEN
        PERFORM _pgrecall.check_namespace(namespace, false);
        chosen := pgrecall.namespace_id(namespace);
    END IF;
    INSERT INTO pgrecall.extractions AS x (memory_id, enricher, namespace_id)
    SELECT m.id, reextract.enricher, m.namespace_id
    FROM pgrecall.memories m
    JOIN pgrecall.extractions t ON t.memory_id = m.id AND t.enricher = 'text'
    WHERE (chosen IS NULL OR m.namespace_id = chosen) AND NOT m.is_sensitive AND m.deleted_at IS NULL
      AND (reextract.enricher <> 'notes' OR starts_with(m.external_id, 'message:') AND m.session IS NOT NULL)
    ORDER BY m.id
    FOR KEY SHARE OF t
    ON CONFLICT ON CONSTRAINT extractions_pkey DO UPDATE
        SET is_pending = true, next_attempt_at = NULL, attempts = 0, last_error = NULL, waiting_since = now()
        WHERE (NOT x.is_pending OR x.attempts > 0)
          AND (reextract.version IS NULL OR x.version IS DISTINCT FROM reextract.version);
    GET DIAGNOSTICS noted = ROW_COUNT;
    RETURN noted;
END
$function$;

ALTER FUNCTION pgrecall.reextract OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.reextract TO pgrecall_writer;
