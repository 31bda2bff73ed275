-- Tells whether a memory already has the given field values.
CREATE OR REPLACE FUNCTION _pgrecall.has_fields(memory pgrecall.memories, fields jsonb)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT stored IS NOT DISTINCT FROM jsonb_populate_record(stored, fields)
    FROM (
        SELECT ROW (
            memory.content, memory.title, memory.category, memory.tags, memory.expanded_keywords, memory.importance,
            memory.metadata, memory.source, memory.session, memory.speaker, memory."position", memory.language,
            memory.is_sensitive, memory.occurred_at, memory.created_at, memory.valid_from, memory.valid_to,
            memory.external_id, memory.expires_at, memory.origin
        )::pgrecall.memory_fields AS stored
    ) s;
END;
