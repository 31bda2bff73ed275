-- Stores one memory and returns its id. is_sensitive keeps it from ever being embedded or extracted; external_id is the
-- caller's own id, unique in the namespace (on_conflict: error, keep or update).
--
-- content            what to remember: 1 byte to 256 kB, not only white space
-- expanded_keywords  other words it should be found by
-- importance         0 to 1; NULL: 0.5
-- session, session_position  the conversation it belongs to, and its place there
-- language           text-search configuration; NULL: the namespace's
-- is_sensitive       never embedded or extracted; found by its words only. NULL: false
-- occurred_at        when it happened, if not when it was stored
-- expires_at         from then on it is never returned; expire_memories() then forgets or erases it
-- external_id        the caller's own id, unique in the namespace; storing the same text twice under it changes nothing
-- namespace, create_namespace, on_conflict   see remember_many()
-- origin             where it comes from, from the least to the most trusted: web, tool, import, agent, user. NULL: the setting
--                    default_origin
--
-- NULL means that an option is not given: on_conflict => 'update' keeps that field, including is_sensitive.
--
-- Errors  22023, 54000 see _pgrecall.check_memory;  42704 no such namespace or language;  23505 external_id is taken
CREATE OR REPLACE FUNCTION public.remember(
    content text,
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
    created_at timestamptz DEFAULT NULL,
    valid_from timestamptz DEFAULT NULL,
    valid_to timestamptz DEFAULT NULL,
    expires_at timestamptz DEFAULT NULL,
    external_id text DEFAULT NULL,
    namespace text DEFAULT NULL,
    create_namespace boolean DEFAULT false,
    on_conflict text DEFAULT 'error',
    origin text DEFAULT NULL
)
RETURNS bigint
LANGUAGE sql VOLATILE
BEGIN ATOMIC
    SELECT stored.id
    FROM public.remember_many(
        jsonb_build_array(jsonb_build_object(
            'content', content, 'title', title, 'category', category, 'tags', tags,
            'expanded_keywords', expanded_keywords, 'importance', importance, 'metadata', metadata, 'source', source,
            'session', session, 'speaker', speaker, 'position', session_position, 'language', language,
            'is_sensitive', is_sensitive, 'occurred_at', occurred_at, 'created_at', created_at,
            'valid_from', valid_from, 'valid_to', valid_to, 'expires_at', expires_at, 'external_id', external_id,
            'origin', origin
        )),
        namespace, create_namespace, on_conflict
    ) AS stored (id);
END;

REVOKE ALL ON FUNCTION public.remember FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder;
GRANT EXECUTE ON FUNCTION public.remember TO pgrecall_writer;
