-- Writes the keys of concepts, of their first ten names each, so that similar_concepts finds them.
CREATE OR REPLACE FUNCTION _pgrecall.key_concepts(ids bigint[])
RETURNS void
LANGUAGE sql VOLATILE
BEGIN ATOMIC
    DELETE FROM pgrecall.concept_keys k WHERE k.concept_id = ANY (ids);
    INSERT INTO pgrecall.concept_keys (namespace_id, key, concept_id)
    SELECT c.namespace_id, k.key, c.id
    FROM pgrecall.concepts c
    CROSS JOIN LATERAL (
        SELECT DISTINCT unnest(_pgrecall.name_keys(a.alias))
        FROM (SELECT a.alias FROM pgrecall.concept_aliases a WHERE a.concept_id = c.id ORDER BY a.alias LIMIT 10) a
    ) k (key)
    WHERE c.id = ANY (ids) AND c.type <> 'FILE'
    ON CONFLICT DO NOTHING;
END;

COMMENT ON FUNCTION _pgrecall.key_concepts IS 'Writes the keys of concepts, so that similar_concepts finds them.';
