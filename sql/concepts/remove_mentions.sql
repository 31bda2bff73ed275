-- Unlinks a memory from the concepts that it does not name any more, and returns those.
--
-- everything  unlink it from all of them, whoever found them there; it is no relationship's evidence either
CREATE OR REPLACE FUNCTION pgrecall.remove_mentions(memory_id bigint, everything boolean)
RETURNS bigint[]
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    lost bigint[];
    doubtful bigint[];
BEGIN
    WITH removed AS (
        DELETE FROM pgrecall.mentions m USING pgrecall.concepts c
        WHERE m.memory_id = remove_mentions.memory_id AND c.id = m.concept_id
          AND (everything
               OR (m.source IN ('tag', 'keyword')
                   AND (m.source, c.namespace_id, c.key) NOT IN (
                        SELECT s.source, s.namespace_id, s.key FROM pgrecall.said_concepts(ARRAY[remove_mentions.memory_id]) s
                    )))
        RETURNING m.concept_id
    )
    SELECT COALESCE(array_agg(DISTINCT r.concept_id), '{}') INTO lost FROM removed r;

    IF everything THEN
        -- Locked before anything is removed, so that of two memories that go at once the second sees the first gone.
        SELECT array_agg(r.id) INTO doubtful
        FROM (
            SELECT r.id FROM pgrecall.relationships r
            WHERE r.id IN (
                SELECT e.relationship_id FROM pgrecall.relationship_evidence e WHERE e.memory_id = remove_mentions.memory_id
            )
            ORDER BY r.id
            FOR UPDATE
        ) r;
        DELETE FROM pgrecall.relationship_evidence e WHERE e.memory_id = remove_mentions.memory_id;
        WITH removed AS (
            DELETE FROM pgrecall.relationships r
            WHERE r.id = ANY (doubtful)
              AND NOT EXISTS (SELECT FROM pgrecall.relationship_evidence e WHERE e.relationship_id = r.id)
            RETURNING r.source_id, r.target_id
        )
        SELECT lost || COALESCE(array_agg(e.concept_id), '{}') INTO lost
        FROM removed r CROSS JOIN LATERAL (VALUES (r.source_id), (r.target_id)) AS e (concept_id);
    END IF;
    RETURN lost;
END
$function$;

COMMENT ON FUNCTION pgrecall.remove_mentions IS
    'Unlinks a memory from the concepts that it does not name any more, or from all of them, and returns those.';
