-- Returns memories by id, with the fields that an offline copy stores.
--
-- Leaves out memories that are forgotten, belong to another namespace or must not be copied.
--
-- Errors  42704 no such namespace
CREATE OR REPLACE FUNCTION pgrecall.sync_memories(
    ids bigint[], namespace text DEFAULT NULL, include_sensitive boolean DEFAULT false
)
RETURNS TABLE (
    id bigint, version text, external_id text, title text, content text, category text, tags text[],
    expanded_keywords text[], importance real, metadata jsonb, source text, session text, speaker text, "position" integer,
    language text, is_sensitive boolean, occurred_at timestamptz, created_at timestamptz, updated_at timestamptz,
    valid_from timestamptz, valid_to timestamptz, superseded_by bigint, superseded_at timestamptz,
    expires_at timestamptz, origin pgrecall.memory_origin
)
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path FROM CURRENT
BEGIN ATOMIC
    SELECT m.id, _pgrecall.memory_digest(m), m.external_id, m.title, m.content, m.category, m.tags,
           m.expanded_keywords, m.importance, m.metadata, m.source, m.session, m.speaker, m."position",
           m.language, m.is_sensitive, m.occurred_at, m.created_at, m.updated_at,
           m.valid_from, m.valid_to, m.superseded_by, m.superseded_at, m.expires_at, m.origin
    FROM pgrecall.memories m
    WHERE m.id = ANY ((SELECT _pgrecall.seen_ids('memory', ids))::bigint[])
      AND m.namespace_id + 0 = (SELECT _pgrecall.known_namespace(pgrecall.namespace_name(sync_memories.namespace)))
      AND m.deleted_at IS NULL AND (include_sensitive OR NOT m.is_sensitive)
    ORDER BY m.id;
END;

ALTER FUNCTION pgrecall.sync_memories OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.sync_memories TO pgrecall_reader;
