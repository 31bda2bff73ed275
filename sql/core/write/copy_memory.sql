-- Stores a new memory with the fields of another one, except those that are given.
--
-- It copies neither external_id, position nor the times of what happened: they belong to the old memory only. The expiry
-- belongs to the matter, and what replaces it goes with it. It is not more trusted than the other one, nor than a new memory of
-- unsaid origin.
CREATE OR REPLACE FUNCTION _pgrecall.copy_memory(memory pgrecall.memories, fields jsonb)
RETURNS bigint
LANGUAGE sql VOLATILE
BEGIN ATOMIC
    SELECT stored.id
    FROM public.remember_many(
        jsonb_build_array(jsonb_build_object(
            'title', memory.title, 'category', memory.category, 'tags', memory.tags,
            'expanded_keywords', memory.expanded_keywords, 'source', memory.source, 'session', memory.session,
            'speaker', memory.speaker, 'language', _pgrecall.stored_language(memory.language)::text, 'is_sensitive', memory.is_sensitive,
            'expires_at', memory.expires_at, 'origin', least(memory.origin, _pgrecall.default_origin())
        ) || copy_memory.fields),
        (SELECT n.name FROM pgrecall.namespaces n WHERE n.id = memory.namespace_id)
    ) AS stored (id);
END;
