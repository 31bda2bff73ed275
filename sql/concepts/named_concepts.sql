-- What the tags and expanded keywords of some memories name: one row a name, with its normalised key.
CREATE OR REPLACE FUNCTION pgrecall.named_concepts(memory_ids bigint[])
RETURNS TABLE (memory_id bigint, namespace_id integer, source text, name text, key text)
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT m.id, m.namespace_id, said.source, said.name, pgrecall.normalise(said.name)
    FROM pgrecall.memories m
    CROSS JOIN LATERAL (
        SELECT 'tag', tag FROM unnest(m.tags) tag
        UNION ALL
        SELECT 'keyword', keyword FROM unnest(m.expanded_keywords) keyword
    ) said (source, name)
    WHERE m.id = ANY (named_concepts.memory_ids)
      AND NOT m.is_sensitive
      AND m.deleted_at IS NULL
      AND pgrecall.normalise(said.name) <> ''
      AND length(said.name) <= 200;
END;

COMMENT ON FUNCTION pgrecall.named_concepts IS 'The concepts that tags and expanded keywords of memories name, normalised.';
