-- Changes fields of a memory and returns whether anything changed; NULL keeps a field, an empty string clears a text.
--
-- Returns whether anything changed.
--
-- The id and the other fields stay; memory_history() keeps the old values. A new text is embedded again. For a fact that is
-- no longer true use supersede(), which keeps the old memory. The time 'infinity' ends valid_to or expires_at.
--
-- A new text keeps an origin of agent or less. What came from the user is the agent's then (the setting default_origin), unless origin
-- says otherwise.
--
-- Errors  P0002 no such memory, or it is forgotten;  22023, 54000 see _pgrecall.check_memory;  42704 no such language
CREATE OR REPLACE FUNCTION public.update_memory(
    id bigint,
    content text DEFAULT NULL,
    title text DEFAULT NULL,
    category text DEFAULT NULL,
    tags text[] DEFAULT NULL,
    expanded_keywords text[] DEFAULT NULL,
    importance double precision DEFAULT NULL,
    metadata jsonb DEFAULT NULL,
    source text DEFAULT NULL,
    session text DEFAULT NULL,
    speaker text DEFAULT NULL,
    session_position integer DEFAULT NULL,
    language text DEFAULT NULL,
    is_sensitive boolean DEFAULT NULL,
    occurred_at timestamptz DEFAULT NULL,
    valid_from timestamptz DEFAULT NULL,
    valid_to timestamptz DEFAULT NULL,
    expires_at timestamptz DEFAULT NULL,
    origin text DEFAULT NULL
)
RETURNS boolean
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
BEGIN ATOMIC
    SELECT _pgrecall.change_memory(id, COALESCE(jsonb_object_agg(given.key, given.value), '{}'))
    FROM jsonb_each(jsonb_build_object(
        'content', content, 'title', title, 'category', category, 'tags', tags,
        'expanded_keywords', expanded_keywords, 'importance', importance, 'metadata', metadata, 'source', source,
        'session', session, 'speaker', speaker, 'position', session_position, 'language', language,
        'is_sensitive', is_sensitive, 'occurred_at', occurred_at, 'valid_from', valid_from, 'valid_to', valid_to,
        'expires_at', expires_at, 'origin', origin
    )) given
    WHERE given.value <> 'null';
END;

ALTER FUNCTION public.update_memory OWNER TO pgrecall_gate;

REVOKE ALL ON FUNCTION public.update_memory FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder;
GRANT EXECUTE ON FUNCTION public.update_memory TO pgrecall_writer;
