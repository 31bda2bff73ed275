-- Returns messages with those around them in their sessions, for a language model to write notes of.
--
-- Up to six messages before each and two after it. Never returns a message that is sensitive, forgotten or expired, nor a
-- note: notes have no position in their session.
--
-- ids     messages; those that may not be read are left out
--
-- is_new  one of these messages, not one around them
-- anchor  when it was said
CREATE OR REPLACE FUNCTION pgrecall.message_context(ids bigint[])
RETURNS TABLE (
    id bigint, namespace_id integer, session text, speaker text, content text, anchor timestamptz, is_new boolean
)
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 32
SET search_path FROM CURRENT
BEGIN ATOMIC
    WITH given AS MATERIALIZED (
        SELECT m.id, m.namespace_id, m.session, m."position"
        FROM pgrecall.memories m
        WHERE m.id = ANY (ids) AND m.session IS NOT NULL AND m."position" IS NOT NULL
          AND NOT m.is_sensitive AND m.deleted_at IS NULL AND (m.expires_at IS NULL OR m.expires_at > now())
    )
    SELECT DISTINCT ON (n.namespace_id, n.session, n."position", n.id)
           n.id, n.namespace_id, n.session, n.speaker, n.content, COALESCE(n.occurred_at, n.created_at),
           n.id IN (SELECT o.id FROM given o)
    FROM given g
    -- Columns by name: a * would depend on those of the embeddings, which come and go with their generations.
    CROSS JOIN LATERAL (
        (
            SELECT m.id, m.namespace_id, m.session, m."position", m.speaker, m.content, m.occurred_at, m.created_at
            FROM pgrecall.memories m
            WHERE m.namespace_id = g.namespace_id AND m.session = g.session AND m."position" <= g."position"
              AND NOT m.is_sensitive AND m.deleted_at IS NULL AND (m.expires_at IS NULL OR m.expires_at > now())
            ORDER BY m."position" DESC, m.id DESC
            LIMIT 7
        )
        UNION ALL
        (
            SELECT m.id, m.namespace_id, m.session, m."position", m.speaker, m.content, m.occurred_at, m.created_at
            FROM pgrecall.memories m
            WHERE m.namespace_id = g.namespace_id AND m.session = g.session AND m."position" > g."position"
              AND NOT m.is_sensitive AND m.deleted_at IS NULL AND (m.expires_at IS NULL OR m.expires_at > now())
            ORDER BY m."position", m.id
            LIMIT 2
        )
    ) n
    ORDER BY n.namespace_id, n.session, n."position", n.id;
END;

ALTER FUNCTION pgrecall.message_context OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.message_context TO pgrecall_embedder;
