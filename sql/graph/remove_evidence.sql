-- Memories are no relationship's evidence any more; a relationship without any goes. Returns the names that lose one.
--
-- What it had contradicted holds again, and what is left of the others is made of their other evidence.
--
-- source  only what this has read there; NULL: whoever read it
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
    -- Locked before anything is removed, so that of two memories that go at once the second sees the first gone.
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

COMMENT ON FUNCTION _pgrecall.remove_evidence IS
    'Memories are no relationship''s evidence any more; a relationship without any goes. Returns the names that lose one.';
