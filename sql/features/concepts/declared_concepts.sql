-- Returns the concepts that memories declare in their tags and expanded keywords, normalised; skips sensitive and forgotten
-- memories.
--
-- Skips sensitive and forgotten memories, because nothing is derived from them, and names of more than 200 characters.
CREATE OR REPLACE FUNCTION _pgrecall.declared_concepts(memory_ids bigint[])
RETURNS TABLE (memory_id bigint, namespace_id integer, source text, name text, alias text)
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT m.id, m.namespace_id, declared.source, declared.name, declared.alias
    FROM pgrecall.memories m
    CROSS JOIN LATERAL _pgrecall.declared_aliases(m.tags, m.expanded_keywords) declared
    WHERE m.id = ANY (memory_ids) AND NOT m.is_sensitive AND m.deleted_at IS NULL;
END;
