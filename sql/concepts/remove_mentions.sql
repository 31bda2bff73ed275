-- Unlinks a memory from its concepts, and removes the concepts that nothing mentions any more.
--
-- sources  only mentions found by these; NULL: all of them, and the memory is no relationship's evidence either
CREATE OR REPLACE FUNCTION pgrecall.remove_mentions(memory_id bigint, sources text[] DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    orphans bigint[];
BEGIN
    WITH removed AS (
        DELETE FROM pgrecall.mentions m
        WHERE m.memory_id = remove_mentions.memory_id AND (sources IS NULL OR m.source = ANY (sources))
        RETURNING m.concept_id
    )
    SELECT array_agg(DISTINCT r.concept_id) INTO orphans FROM removed r;

    IF sources IS NULL THEN
        DELETE FROM pgrecall.relationships r
        WHERE r.id IN (
                SELECT e.relationship_id FROM pgrecall.relationship_evidence e
                WHERE e.memory_id = remove_mentions.memory_id
            )
          AND NOT EXISTS (
                SELECT FROM pgrecall.relationship_evidence e
                WHERE e.relationship_id = r.id AND e.memory_id <> remove_mentions.memory_id
            );
        DELETE FROM pgrecall.relationship_evidence e WHERE e.memory_id = remove_mentions.memory_id;
    END IF;

    -- Lock first, look afterwards: a writer who has just mentioned one of them is waited for and then seen.
    PERFORM FROM pgrecall.concepts c WHERE c.id = ANY (orphans) ORDER BY c.id FOR UPDATE;
    DELETE FROM pgrecall.concepts c
    WHERE c.id = ANY (orphans)
      AND NOT EXISTS (SELECT FROM pgrecall.mentions m WHERE m.concept_id = c.id)
      AND NOT EXISTS (SELECT FROM pgrecall.relationships r WHERE c.id IN (r.source_id, r.target_id));
END
$function$;

COMMENT ON FUNCTION pgrecall.remove_mentions IS
    'Unlinks a memory from its concepts, and removes the concepts that nothing mentions any more.';
