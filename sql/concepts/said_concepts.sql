-- The concepts that memories name: their tags and expanded keywords, normalised.
--
-- Sensitive and forgotten memories name none: nothing is derived from them. Nor do names of more than 200 characters.
CREATE OR REPLACE FUNCTION pgrecall.said_concepts(memory_ids bigint[])
RETURNS TABLE (memory_id bigint, namespace_id integer, source text, name text, key text)
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT m.id, m.namespace_id, word.source, word.name, normal.key
    FROM pgrecall.memories m
    CROSS JOIN LATERAL (
        SELECT 'tag'::text, tag FROM unnest(m.tags) tag
        UNION ALL
        SELECT 'keyword'::text, keyword FROM unnest(m.expanded_keywords) keyword
    ) word (source, name)
    CROSS JOIN LATERAL (SELECT pgrecall.normalise(word.name) AS key WHERE length(word.name) <= 200) normal
    WHERE m.id = ANY (memory_ids) AND NOT m.is_sensitive AND m.deleted_at IS NULL
      AND length(normal.key) BETWEEN 1 AND 200;
END;

COMMENT ON FUNCTION pgrecall.said_concepts IS
    'The concepts that memories name by tags and expanded keywords; sensitive and forgotten memories name none.';
