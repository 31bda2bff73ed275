-- Ends the jobs of memories that were extracted, and notes by which version.
CREATE OR REPLACE FUNCTION _pgrecall.note_extractions(enricher text, version text, memory_ids bigint[])
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
BEGIN
    DELETE FROM pgrecall.jobs j WHERE j.memory_id = ANY (memory_ids) AND j.kind = note_extractions.enricher AND j.generation_id = 0;
    INSERT INTO pgrecall.extractions AS x (memory_id, enricher, version)
    SELECT DISTINCT u.id, note_extractions.enricher, note_extractions.version FROM unnest(memory_ids) u (id) ORDER BY u.id
    ON CONFLICT ON CONSTRAINT extractions_pkey DO UPDATE SET version = excluded.version, extracted_at = excluded.extracted_at;
END
$function$;
