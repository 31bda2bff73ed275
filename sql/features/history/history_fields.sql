-- The fields of a memory that its history keeps, under the names of remember()'s options.
CREATE OR REPLACE FUNCTION _pgrecall.history_fields(memory pgrecall.memories)
RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE
RETURN jsonb_build_object(
    'content', memory.content, 'title', memory.title, 'category', memory.category, 'tags', memory.tags,
    'expanded_keywords', memory.expanded_keywords, 'importance', memory.importance, 'metadata', memory.metadata,
    'source', memory.source, 'session', memory.session, 'speaker', memory.speaker, 'position', memory."position",
    'language', memory.language, 'is_sensitive', memory.is_sensitive, 'occurred_at', memory.occurred_at,
    'created_at', memory.created_at, 'valid_from', memory.valid_from, 'valid_to', memory.valid_to,
    'expires_at', memory.expires_at, 'external_id', memory.external_id, 'forgotten_at', memory.deleted_at,
    'superseded_by', memory.superseded_by, 'origin', memory.origin
);
