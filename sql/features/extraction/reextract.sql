-- Queues memories for another extraction of names, times and facts: those extracted by another version, or all. Returns how many.
--
-- Existing results stay until they are replaced. Each memory is locked first, so that none is queued that a writer makes
-- sensitive or forgets at this moment.
--
-- namespace  NULL: every namespace
-- enricher   text, llm, notes or sparse; notes are made of messages only (remember_messages)
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
    PERFORM _pgrecall.check_enricher(enricher);
    IF namespace IS NOT NULL THEN
        PERFORM _pgrecall.check_namespace(namespace, false);
        chosen := pgrecall.namespace_id(namespace);
    END IF;
    INSERT INTO pgrecall.jobs AS j (memory_id, kind, namespace_id)
    SELECT m.id, reextract.enricher, m.namespace_id
    FROM pgrecall.memories m
    LEFT JOIN pgrecall.extractions x ON x.memory_id = m.id AND x.enricher = reextract.enricher
    WHERE (chosen IS NULL OR m.namespace_id = chosen) AND NOT m.is_sensitive AND m.deleted_at IS NULL
      AND (reextract.enricher <> 'notes' OR starts_with(m.external_id, 'message:') AND m.session IS NOT NULL)
      AND (reextract.version IS NULL OR x.version IS DISTINCT FROM reextract.version)
    ORDER BY m.id
    FOR SHARE OF m
    ON CONFLICT ON CONSTRAINT jobs_pkey DO UPDATE
        SET next_attempt_at = NULL, attempts = 0, last_error = NULL, cause = NULL, failed_at = NULL, waiting_since = now()
        WHERE j.attempts > 0;
    GET DIAGNOSTICS noted = ROW_COUNT;
    RETURN noted;
END
$function$;

ALTER FUNCTION pgrecall.reextract OWNER TO pgrecall_gate;
