-- The concepts that memories name by themselves: their tags and expanded keywords, normalised.
--
-- Sensitive and forgotten memories name none: nothing is derived from them. Nor do names of more than 200 characters.
CREATE OR REPLACE FUNCTION _pgrecall.declared_concepts(memory_ids bigint[])
RETURNS TABLE (memory_id bigint, namespace_id integer, source text, name text, alias text)
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT m.id, m.namespace_id, said.source, said.name, said.alias
    FROM pgrecall.memories m
    CROSS JOIN LATERAL _pgrecall.declared_aliases(m.tags, m.expanded_keywords) said
    WHERE m.id = ANY (memory_ids) AND NOT m.is_sensitive AND m.deleted_at IS NULL;
END;

COMMENT ON FUNCTION _pgrecall.declared_concepts IS
    'The concepts that memories name by tags and expanded keywords; sensitive and forgotten memories name none.';
