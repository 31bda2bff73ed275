-- Returns the names that checked memories of a batch declare, for lock_names(). Sensitive memories declare none.
--
-- memories   as for insert_memories()
-- namespace  the default namespace
CREATE OR REPLACE FUNCTION _pgrecall.stated_names(memories jsonb, namespace text)
RETURNS pgrecall.naming[]
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT COALESCE(array_agg(DISTINCT ROW (n.id, s.alias, s.name)::pgrecall.naming), '{}')
    FROM jsonb_array_elements(memories) e (fields)
    JOIN pgrecall.namespaces n ON n.name = COALESCE(e.fields ->> 'namespace', stated_names.namespace)
    CROSS JOIN LATERAL jsonb_populate_record(NULL::pgrecall.memory_fields, e.fields) f
    CROSS JOIN LATERAL _pgrecall.declared_aliases(f.tags, f.expanded_keywords) s
    WHERE f.is_sensitive IS NOT TRUE;
END;
