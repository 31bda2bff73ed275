-- Curates a memory by rules. Returns the number of the decision, or NULL if there is nothing to decide.
--
-- Errors  42501 read-only for this role
CREATE OR REPLACE FUNCTION pgrecall.curate(memory_id bigint)
RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    decided record;
    curation_id bigint;
BEGIN
    -- Decide again if a memory changed in between; the limit stops a constant writer from keeping this busy.
    FOR attempt IN 1 .. 3 LOOP
        SELECT d.* INTO decided FROM pgrecall.decide_curation(curate.memory_id) d;
        IF decided.decision IS NULL THEN
            RETURN NULL;
        END IF;
        curation_id := pgrecall.apply_curation(
            curate.memory_id, decided.other_id, decided.decision, 'rules.1', decided.evidence, decided.memory_hash, decided.other_hash
        );
        EXIT WHEN curation_id IS NOT NULL;
    END LOOP;
    RETURN curation_id;
END
$function$;

ALTER FUNCTION pgrecall.curate OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.curate TO pgrecall_writer;
