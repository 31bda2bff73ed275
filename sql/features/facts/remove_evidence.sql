-- Removes memories from relationships' evidence; drops relationships without any. Returns the names that lose one.
--
-- Validity is rebuilt from the remaining evidence, so relationships that the memories contradicted hold again.
--
-- source  only evidence from this enricher; NULL: from all
CREATE OR REPLACE FUNCTION _pgrecall.remove_evidence(memory_ids bigint[], source text DEFAULT NULL)
RETURNS pgrecall.naming[]
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    namespace_ids integer[];
    touched bigint[];
BEGIN
    SELECT array_agg(DISTINCT r.namespace_id) INTO namespace_ids
    FROM pgrecall.relationship_evidence e
    JOIN pgrecall.relationships r ON r.id = e.relationship_id
    WHERE e.memory_id = ANY (memory_ids) AND (remove_evidence.source IS NULL OR e.source = remove_evidence.source);
    IF namespace_ids IS NULL THEN
        RETURN '{}'::pgrecall.naming[];
    END IF;
    -- Locked before the removal, so that of two concurrently removed memories the second sees the first one gone.
    PERFORM _pgrecall.lock_relationships(namespace_ids);
    WITH removed AS (
        DELETE FROM pgrecall.relationship_evidence e
        WHERE e.memory_id = ANY (memory_ids) AND (remove_evidence.source IS NULL OR e.source = remove_evidence.source)
        RETURNING e.relationship_id
    )
    SELECT array_agg(DISTINCT r.relationship_id) INTO touched FROM removed r;
    RETURN _pgrecall.refresh_relationships(touched);
END
$function$;
