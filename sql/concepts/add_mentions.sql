-- Links memories to the concepts of their tags and expanded keywords, making those concepts where needed.
--
-- Sensitive and forgotten memories are passed over: nothing is derived from them.
CREATE OR REPLACE FUNCTION pgrecall.add_mentions(memory_ids bigint[])
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    complete boolean;
BEGIN
    LOOP
        -- Names in order, so that two writers who make the same new concepts wait for each other and do not deadlock.
        INSERT INTO pgrecall.concepts (namespace_id, key, name)
        SELECT n.namespace_id, n.key, min(n.name)
        FROM pgrecall.named_concepts(memory_ids) n
        WHERE NOT EXISTS (
            SELECT FROM pgrecall.concepts c WHERE c.namespace_id = n.namespace_id AND c.key = n.key AND c.type = 'CONCEPT'
        )
        GROUP BY n.namespace_id, n.key
        ORDER BY n.namespace_id, n.key
        ON CONFLICT DO NOTHING;

        -- Held until commit. One that is missing now was removed as an orphan in between: make it again.
        PERFORM FROM pgrecall.concepts c
        WHERE c.type = 'CONCEPT'
          AND (c.namespace_id, c.key) IN (SELECT n.namespace_id, n.key FROM pgrecall.named_concepts(memory_ids) n)
        ORDER BY c.id
        FOR KEY SHARE;

        SELECT bool_and(EXISTS (
            SELECT FROM pgrecall.concepts c WHERE c.namespace_id = n.namespace_id AND c.key = n.key AND c.type = 'CONCEPT'
        )) INTO complete
        FROM pgrecall.named_concepts(memory_ids) n;
        EXIT WHEN complete IS NOT FALSE;
    END LOOP;

    INSERT INTO pgrecall.concept_aliases (namespace_id, alias, concept_id)
    SELECT DISTINCT c.namespace_id, c.key, c.id
    FROM pgrecall.named_concepts(memory_ids) n
    JOIN pgrecall.concepts c ON c.namespace_id = n.namespace_id AND c.key = n.key AND c.type = 'CONCEPT'
    WHERE NOT EXISTS (
        SELECT FROM pgrecall.concept_aliases a
        WHERE a.namespace_id = c.namespace_id AND a.alias = c.key AND a.concept_id = c.id
    )
    ORDER BY c.namespace_id, c.key
    ON CONFLICT DO NOTHING;

    INSERT INTO pgrecall.mentions (namespace_id, concept_id, memory_id, source)
    SELECT DISTINCT c.namespace_id, c.id, n.memory_id, n.source
    FROM pgrecall.named_concepts(memory_ids) n
    JOIN pgrecall.concepts c ON c.namespace_id = n.namespace_id AND c.key = n.key AND c.type = 'CONCEPT'
    ON CONFLICT DO NOTHING;
END
$function$;

COMMENT ON FUNCTION pgrecall.add_mentions IS
    'Links memories to the concepts of their tags and expanded keywords; sensitive and forgotten memories are passed over.';
