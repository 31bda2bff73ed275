-- remember_messages: stores a conversation, each message once, however often the growing list is handed over.
--
-- A message becomes a memory with its session, speaker and position. Its external_id is a hash of session, speaker and text, with
-- a number if the same speaker says the same again. So a later call with more messages, or with the last ones only, stores
-- only what is new. Messages of the roles system, developer, tool and function, and messages without text, are left out.
--
-- messages   JSON array of objects as chat models take them: {"role": "user", "content": "…"}. content is a text, or an array
--            of parts, whose texts count. "name" is the speaker, else the role. "created_at" is when it was said.
--            "metadata", over that of the call, and "valid_to" are as for remember_many()
-- session    the conversation
-- metadata, tags, expires_at  for every new memory
-- namespace, create_namespace  as for remember_many()
--
-- place   of the message in the array, from 1;  is_new  stored by this call
--
-- Errors  22023 no array of messages, or no session;  those of remember_many()
CREATE OR REPLACE FUNCTION public.remember_messages(
    messages jsonb,
    session text,
    namespace text DEFAULT NULL,
    metadata jsonb DEFAULT NULL,
    tags text[] DEFAULT NULL,
    expires_at timestamptz DEFAULT NULL,
    create_namespace boolean DEFAULT false
)
RETURNS TABLE (place integer, id bigint, is_new boolean)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
#variable_conflict use_column
DECLARE
    home CONSTANT text := pgrecall.namespace_name(remember_messages.namespace);
    said jsonb[];
    places integer[];
    known bigint[];
    stored bigint[];
    last_position integer;
    message record;
BEGIN
    IF jsonb_typeof(messages) IS DISTINCT FROM 'array' THEN
        RAISE EXCEPTION 'messages must be a JSON array, not %', COALESCE(jsonb_typeof(messages), 'NULL')
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass [{"role": "user", "content": "…"}, …].';
    ELSIF NULLIF(remember_messages.session, '') IS NULL THEN
        RAISE EXCEPTION 'remember_messages needs a session'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass the id of the conversation.';
    END IF;
    FOR message IN SELECT e.value, e.place, jsonb_typeof(e.value) AS kind FROM jsonb_array_elements(messages) WITH ORDINALITY e (value, place) LOOP
        IF message.kind <> 'object' OR jsonb_typeof(message.value -> 'role') IS DISTINCT FROM 'string'
           OR COALESCE(jsonb_typeof(message.value -> 'content'), 'null') NOT IN ('string', 'array', 'null')
           OR COALESCE(jsonb_typeof(message.value -> 'name'), 'null') NOT IN ('string', 'null')
           OR COALESCE(jsonb_typeof(message.value -> 'created_at'), 'null') NOT IN ('string', 'null')
           OR COALESCE(jsonb_typeof(message.value -> 'valid_to'), 'null') NOT IN ('string', 'null')
           OR COALESCE(jsonb_typeof(message.value -> 'metadata'), 'null') NOT IN ('object', 'null') THEN
            RAISE EXCEPTION 'message %: expected an object with a role and a content', message.place
                USING ERRCODE = 'invalid_parameter_value',
                      HINT = 'A message is {"role": "user", "content": "…"}, optionally with "name", "created_at", "valid_to" and "metadata".';
        END IF;
    END LOOP;

    WITH texts AS (
        SELECT e.place,
               COALESCE(NULLIF(e.value ->> 'name', ''), e.value ->> 'role') AS speaker,
               CASE jsonb_typeof(e.value -> 'content')
                   WHEN 'string' THEN e.value ->> 'content'
                   WHEN 'array' THEN (
                       SELECT string_agg(COALESCE(p.value ->> 'text', p.value #>> '{}'), E'\n' ORDER BY p.place)
                       FROM jsonb_array_elements(e.value -> 'content') WITH ORDINALITY p (value, place)
                       WHERE jsonb_typeof(p.value) = 'string' OR jsonb_typeof(p.value -> 'text') = 'string'
                   )
               END AS content,
               e.value -> 'created_at' AS occurred_at, e.value -> 'valid_to' AS valid_to, e.value -> 'metadata' AS metadata
        FROM jsonb_array_elements(messages) WITH ORDINALITY e (value, place)
        WHERE e.value ->> 'role' NOT IN ('system', 'developer', 'tool', 'function')
    ), numbered AS (
        SELECT t.*, row_number() OVER (PARTITION BY t.speaker, t.content ORDER BY t.place) AS repetition
        FROM texts t
        WHERE t.content ~ '[^[:space:]]'
    )
    SELECT array_agg(jsonb_strip_nulls(jsonb_build_object(
               'content', n.content, 'speaker', n.speaker, 'session', remember_messages.session, 'occurred_at', n.occurred_at,
               'valid_to', n.valid_to,
               'tags', remember_messages.tags, 'expires_at', remember_messages.expires_at,
               'external_id', 'message:' || encode(sha256(convert_to(
                   jsonb_build_array(remember_messages.session, n.speaker, n.content)::text, 'UTF8'
               )), 'hex') || CASE WHEN n.repetition > 1 THEN ':' || n.repetition ELSE '' END
           )) || jsonb_build_object(
               'metadata', COALESCE(remember_messages.metadata, '{}') || COALESCE(NULLIF(n.metadata, 'null'), '{}')
           ) ORDER BY n.place),
           array_agg(n.place::integer ORDER BY n.place)
    INTO said, places
    FROM numbered n;
    IF said IS NULL THEN
        RETURN;
    END IF;

    -- New messages follow the last one of the session.
    SELECT array_agg(m.id ORDER BY s.number) INTO known
    FROM unnest(said) WITH ORDINALITY s (fields, number)
    LEFT JOIN (SELECT n.id FROM pgrecall.namespaces n WHERE n.name = home) n ON true
    LEFT JOIN pgrecall.memories m ON m.namespace_id = n.id AND m.external_id = s.fields ->> 'external_id';
    SELECT max(m."position") INTO last_position
    FROM pgrecall.namespaces n
    JOIN pgrecall.memories m ON m.namespace_id = n.id AND m.session = remember_messages.session AND m."position" IS NOT NULL
    WHERE n.name = home;
    SELECT array_agg(r.id ORDER BY r.number) INTO stored
    FROM public.remember_many(
        (
            SELECT jsonb_agg(n.fields || jsonb_build_object('position', COALESCE(last_position, 0) + n.added) ORDER BY n.number)
            FROM (
                SELECT s.fields, s.number, count(*) FILTER (WHERE known[s.number] IS NULL) OVER (ORDER BY s.number) AS added
                FROM unnest(said) WITH ORDINALITY s (fields, number)
            ) n
        ),
        home, create_namespace, 'keep'
    ) WITH ORDINALITY r (id, number);
    RETURN QUERY
        SELECT p.place, p.id, known[p.number] IS NULL
        FROM unnest(places, stored) WITH ORDINALITY p (place, id, number)
        ORDER BY p.number;
END
$function$;

COMMENT ON FUNCTION public.remember_messages IS
    'Stores the messages of a conversation as memories of its session, each once, however often the growing list is handed over. '
    'Returns the memory of each message, and whether it is new.';

ALTER FUNCTION public.remember_messages OWNER TO pgrecall_gate;

REVOKE ALL ON FUNCTION public.remember_messages FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder;
GRANT EXECUTE ON FUNCTION public.remember_messages TO pgrecall_writer;
