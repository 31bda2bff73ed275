-- Writes the keys of concepts, of their first ten names each, so that similar_concepts finds them.
CREATE OR REPLACE FUNCTION _pgrecall.key_concepts(ids bigint[])
RETURNS void
LANGUAGE sql VOLATILE
BEGIN ATOMIC
    DELETE FROM pgrecall.concept_keys k WHERE k.concept_id = ANY (ids);
    INSERT INTO pgrecall.concept_keys (namespace_id, key, concept_id)
    SELECT c.namespace_id, k.key, c.id
    FROM (
        -- One that another transaction is deleting has no keys, and nobody waits for it.
        SELECT c.id, c.namespace_id FROM pgrecall.concepts c
        WHERE c.id = ANY (ids) AND c.type <> 'FILE'
        FOR KEY SHARE SKIP LOCKED
    ) c
    CROSS JOIN LATERAL (
        SELECT DISTINCT unnest(_pgrecall.name_keys(a.alias))
        FROM (SELECT a.alias FROM pgrecall.concept_aliases a WHERE a.concept_id = c.id ORDER BY a.alias LIMIT 10) a
    ) k (key)
    ON CONFLICT DO NOTHING;
END;
