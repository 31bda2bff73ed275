-- Removes a concept if no memory mentions it and no relationship links it; see pgrecall.settle_concepts for the locks.
CREATE OR REPLACE FUNCTION pgrecall.remove_orphan(concept_id bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
BEGIN
    PERFORM FROM pgrecall.concepts c WHERE c.id = remove_orphan.concept_id FOR NO KEY UPDATE;
    IF EXISTS (SELECT FROM pgrecall.mentions m WHERE m.concept_id = remove_orphan.concept_id)
       OR EXISTS (
            SELECT FROM pgrecall.relationships r
            WHERE r.source_id = remove_orphan.concept_id OR r.target_id = remove_orphan.concept_id
        )
    THEN
        RETURN;
    END IF;
    -- Lock first, look again afterwards: a writer who has just mentioned it is waited for and then seen.
    PERFORM FROM pgrecall.concepts c WHERE c.id = remove_orphan.concept_id FOR UPDATE;
    DELETE FROM pgrecall.concepts c
    WHERE c.id = remove_orphan.concept_id
      AND NOT EXISTS (SELECT FROM pgrecall.mentions m WHERE m.concept_id = c.id)
      AND NOT EXISTS (SELECT FROM pgrecall.relationships r WHERE r.source_id = c.id OR r.target_id = c.id);
END
$function$;

COMMENT ON FUNCTION pgrecall.remove_orphan IS 'Removes a concept if no memory mentions it and no relationship links it.';
