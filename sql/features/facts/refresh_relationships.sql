-- Updates relationships from their evidence and removes those without any. Returns the aliases that lose one.
--
-- Call it with all relationships that gained or lost evidence, got another label, or whose concepts were merged or
-- split. Contradictions are resolved together for all of a subject's relationships with a label. The caller holds
-- _pgrecall.lock_relationships().
CREATE OR REPLACE FUNCTION _pgrecall.refresh_relationships(relationship_ids bigint[])
RETURNS pgrecall.naming[]
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    touched record;
    is_exclusive boolean;
    lost pgrecall.naming[];
BEGIN
    -- Relationships without evidence are removed at the end; until then none may keep another from being open-ended.
    UPDATE pgrecall.relationships r SET valid_to = 'infinity'
    WHERE r.id = ANY (relationship_ids) AND r.valid_to IS NULL
      AND NOT EXISTS (SELECT FROM pgrecall.relationship_evidence e WHERE e.relationship_id = r.id);
    FOR touched IN
        SELECT r.source_id, r.label, array_agg(DISTINCT r.target_id) AS target_ids, array_agg(r.id) AS ids
        FROM pgrecall.relationships r
        WHERE r.id = ANY (relationship_ids)
        GROUP BY r.source_id, r.label
        ORDER BY r.source_id, r.label
    LOOP
        SELECT EXISTS (
            SELECT FROM pgrecall.relationships r
            WHERE r.source_id = touched.source_id AND r.label = touched.label AND r.is_exclusive
        ) OR EXISTS (
            SELECT FROM pgrecall.relationship_evidence e WHERE e.relationship_id = ANY (touched.ids) AND e.is_exclusive
        ) INTO is_exclusive;
        PERFORM _pgrecall.rebuild_validity(touched.source_id, touched.label, CASE WHEN NOT is_exclusive THEN touched.target_ids END);
    END LOOP;

    WITH removed AS (
        DELETE FROM pgrecall.relationships r
        WHERE r.id = ANY (relationship_ids)
          AND NOT EXISTS (SELECT FROM pgrecall.relationship_evidence e WHERE e.relationship_id = r.id)
        RETURNING r.namespace_id, r.source_id, r.source_alias_id, r.target_id, r.target_alias_id
    )
    SELECT COALESCE(array_agg(DISTINCT ROW (r.namespace_id, a.alias, NULL)::pgrecall.naming), '{}') INTO lost
    FROM removed r
    CROSS JOIN LATERAL (VALUES (r.source_id, r.source_alias_id), (r.target_id, r.target_alias_id)) n (concept_id, alias_id)
    JOIN pgrecall.concept_aliases a ON a.concept_id = n.concept_id AND a.id = n.alias_id;
    RETURN lost;
END
$function$;
