-- The memories with all their fields, forgotten and superseded ones included: a documented interface for reading, and what
-- get_memories() and list_memories() return.
--
-- Row-level security applies: an administrator sees every row. Tenants have no privilege on it and call the functions.
--
-- session_position  order within the session
-- forgotten_at      when it was forgotten; NULL: it is not
-- is_expired        its expires_at has come, so nothing returns it
-- is_embedded       it has an embedding of the active model
-- origin            where it comes from; the order of the type is that of trust
CREATE OR REPLACE VIEW pgrecall.stored_memories WITH (security_invoker = true) AS
SELECT m.id, n.name AS namespace, m.external_id, m.title, m.content, m.category, m.tags, m.expanded_keywords, m.metadata,
       m.importance, m.speaker, m.session, m."position" AS session_position, m.source, m.language, m.is_sensitive,
       m.occurred_at, m.created_at, m.updated_at, m.valid_from, m.valid_to, m.expires_at,
       m.superseded_by, m.superseded_at, m.deleted_at AS forgotten_at,
       COALESCE(m.expires_at <= now(), false) AS is_expired,
       _pgrecall.embedding_of(m, pgrecall.active_generation()) IS NOT NULL AS is_embedded,
       m.origin
FROM pgrecall.memories m
JOIN pgrecall.namespaces n ON n.id = m.namespace_id;
