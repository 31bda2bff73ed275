-- Returns the current options of remember() of a memory, without those that identify it.
CREATE OR REPLACE FUNCTION _pgrecall.version_fields(memory pgrecall.memories)
RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE
RETURN jsonb_build_object(
    'content', (memory).content, 'title', (memory).title, 'category', (memory).category, 'tags', (memory).tags,
    'expanded_keywords', (memory).expanded_keywords, 'importance', (memory).importance, 'metadata', (memory).metadata,
    'source', (memory).source, 'session', (memory).session, 'speaker', (memory).speaker, 'language', (memory).language,
    'is_sensitive', (memory).is_sensitive, 'occurred_at', (memory).occurred_at, 'valid_from', (memory).valid_from,
    'origin', (memory).origin
);
