-- Stores the messages of a conversation as memories of its session, each once, however often the growing list is handed
-- over. Returns the memory of each message, and whether it is new.
--
-- A message becomes a memory with its session, speaker and position. What makes it the same message is its place in the
-- conversation, and its created_at if it has one, not its text alone. The call may pass the whole list each time, its end, or only
-- what is new; messages are compared by speaker, text and time:
--   1. What the list begins with and the session ends with is stored already.
--   2. Else a list of three or more that begins with the first two messages of the session is the whole list, of which turns were
--      edited, regenerated or taken out: what the session has in the same order is stored already, up to the first message that it
--      does not have. From there on all is new, and the old versions stay.
--   3. Of all others, one with a created_at that the session has with this text and time is stored already. The rest is new.
-- So a lone "yes" is new, unless the last message is the same without another time. Messages of the roles system and developer,
-- messages without text, and messages that were erased are left out. Those of the roles tool and function are left out too, unless they
-- state their origin.
--
-- A message of the role user or human has the origin user, every other one agent, unless it states another. What a tool or function
-- answered is tool at most.
--
-- messages   JSON array of objects as chat models take them: {"role": "user", "content": "…"}. content is a text, or an array
--            of parts, whose texts count. "name" is the speaker, else the role. "created_at" is when it was said.
--            "metadata", over that of the call, "valid_to" and "origin" are as for remember_many()
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
    home_id integer;
    wrong bigint;
    -- One element per message that counts: its place, speaker, text, time, the other fields, and the hash of session, speaker, text.
    places integer[];
    speakers text[];
    contents text[];
    times timestamptz[];
    options jsonb[];
    hashes text[];
    dated text[];
    erased bigint[];
    known bigint[];
    stored bigint[];
    last_position integer;
    locked bigint;
BEGIN
    IF jsonb_typeof(messages) IS DISTINCT FROM 'array' THEN
        RAISE EXCEPTION 'messages must be a JSON array, not %', COALESCE(jsonb_typeof(messages), 'NULL')
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass [{"role": "user", "content": "…"}, …].';
    ELSIF NULLIF(remember_messages.session, '') IS NULL THEN
        RAISE EXCEPTION 'remember_messages needs a session'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass the id of the conversation.';
    END IF;
    SELECT min(e.place) INTO wrong
    FROM jsonb_array_elements(messages) WITH ORDINALITY e (value, place)
    WHERE jsonb_typeof(e.value) <> 'object' OR jsonb_typeof(e.value -> 'role') IS DISTINCT FROM 'string'
       OR COALESCE(jsonb_typeof(e.value -> 'content'), 'null') NOT IN ('string', 'array', 'null')
       OR COALESCE(jsonb_typeof(e.value -> 'name'), 'null') NOT IN ('string', 'null')
       OR COALESCE(jsonb_typeof(e.value -> 'created_at'), 'null') NOT IN ('string', 'null')
       OR COALESCE(jsonb_typeof(e.value -> 'valid_to'), 'null') NOT IN ('string', 'null')
       OR COALESCE(jsonb_typeof(e.value -> 'origin'), 'null') NOT IN ('string', 'null')
       OR COALESCE(jsonb_typeof(e.value -> 'metadata'), 'null') NOT IN ('object', 'null');
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION 'message %: expected an object with a role and a content', wrong
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'A message is {"role": "user", "content": "…"}, optionally with '
                      '"name", "created_at", "valid_to", "origin" and "metadata".';
    END IF;
    -- Before its cast, whose error would quote it.
    PERFORM _pgrecall.check_origin(e.value ->> 'origin', 'message ' || e.place)
    FROM jsonb_array_elements(messages) WITH ORDINALITY e (value, place)
    WHERE e.value ->> 'origin' IS NOT NULL
    ORDER BY e.place;
    -- Before its cast: infinity has no place in the key of a message.
    SELECT min(e.place) INTO wrong
    FROM jsonb_array_elements(messages) WITH ORDINALITY e (value, place)
    WHERE NOT _pgrecall.is_time(e.value ->> 'created_at');
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION 'message %: created_at is not a time from 0001-01-02 to 9999-12-31 UTC', wrong
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Write it as 2025-01-31T12:00:00Z.';
    END IF;

    WITH texts AS MATERIALIZED (
        SELECT e.place::integer AS place, COALESCE(NULLIF(e.value ->> 'name', ''), e.value ->> 'role') AS speaker,
               CASE jsonb_typeof(e.value -> 'content')
                   WHEN 'string' THEN e.value ->> 'content'
                   WHEN 'array' THEN (
                       SELECT string_agg(COALESCE(p.value ->> 'text', p.value #>> '{}'), E'\n' ORDER BY p.place)
                       FROM jsonb_array_elements(e.value -> 'content') WITH ORDINALITY p (value, place)
                       WHERE jsonb_typeof(p.value) = 'string' OR jsonb_typeof(p.value -> 'text') = 'string'
                   )
               END AS content,
               (e.value ->> 'created_at')::timestamptz AS said_at,
               jsonb_build_object(
                   'valid_to', e.value -> 'valid_to', 'metadata', e.value -> 'metadata',
                   'origin', CASE
                       WHEN e.value ->> 'role' IN ('tool', 'function') THEN least((e.value ->> 'origin')::pgrecall.memory_origin, 'tool')
                       WHEN e.value ->> 'origin' IS NOT NULL THEN (e.value ->> 'origin')::pgrecall.memory_origin
                       WHEN e.value ->> 'role' IN ('user', 'human') THEN 'user'
                       ELSE 'agent'
                   END
               ) AS options
        FROM jsonb_array_elements(messages) WITH ORDINALITY e (value, place)
        WHERE e.value ->> 'role' NOT IN ('system', 'developer', 'tool', 'function')
           OR (e.value ->> 'role' IN ('tool', 'function') AND e.value ->> 'origin' IS NOT NULL)
    )
    SELECT array_agg(t.place ORDER BY t.place), array_agg(t.speaker ORDER BY t.place),
           array_agg(t.content ORDER BY t.place), array_agg(t.said_at ORDER BY t.place),
           array_agg(t.options ORDER BY t.place),
           array_agg(
               _pgrecall.message_key(remember_messages.session, t.speaker, (_pgrecall.redact_text(t.content)).clean) ORDER BY t.place
           )
    INTO places, speakers, contents, times, options, hashes
    FROM texts t WHERE NOT _pgrecall.is_blank(t.content);
    IF places IS NULL THEN
        RETURN;
    END IF;

    SELECT n.id INTO home_id FROM pgrecall.namespaces n WHERE n.name = home;
    SELECT array_agg(
        g.hash || '@' || (extract(epoch FROM g.said_at) * 1000000)::bigint
            || CASE WHEN g.repetition > 1 THEN ':' || g.repetition ELSE '' END
        ORDER BY g.number
    ) INTO dated
    FROM (
        SELECT t.*, row_number() OVER (PARTITION BY t.hash, t.said_at ORDER BY t.number) AS repetition
        FROM unnest(hashes, times) WITH ORDINALITY t (hash, said_at, number)
    ) g;
    erased := _pgrecall.erased_messages(home_id, remember_messages.session, hashes, dated);
    IF erased <> '{}' THEN
        SELECT array_agg(places[g.number] ORDER BY g.number), array_agg(speakers[g.number] ORDER BY g.number),
               array_agg(contents[g.number] ORDER BY g.number), array_agg(times[g.number] ORDER BY g.number),
               array_agg(options[g.number] ORDER BY g.number), array_agg(hashes[g.number] ORDER BY g.number),
               array_agg(dated[g.number] ORDER BY g.number)
        INTO places, speakers, contents, times, options, hashes, dated
        FROM generate_series(1, cardinality(places)) g (number)
        WHERE g.number <> ALL (erased);
        IF places IS NULL THEN
            RETURN;
        END IF;
    END IF;
    -- Calls that continue the session take turns: the next one has to see what this one stores.
    IF current_setting('transaction_isolation') = 'read committed' THEN
        LOOP
            SELECT m.id INTO locked
            FROM pgrecall.memories m
            WHERE m.namespace_id = home_id AND m.session = remember_messages.session AND m."position" IS NOT NULL
            ORDER BY m."position" DESC, m.id DESC
            LIMIT 1
            FOR NO KEY UPDATE;
            -- None can be locked by who may only read. The last may be another by then, stored by the call that this one waited for.
            EXIT WHEN locked IS NULL OR locked = (
                SELECT m.id
                FROM pgrecall.memories m
                WHERE m.namespace_id = home_id AND m.session = remember_messages.session AND m."position" IS NOT NULL
                ORDER BY m."position" DESC, m.id DESC
                LIMIT 1
            );
        END LOOP;
    END IF;
    SELECT max(m."position") INTO last_position
    FROM pgrecall.memories m
    WHERE m.namespace_id = home_id AND m.session = remember_messages.session AND m."position" IS NOT NULL;
    known := _pgrecall.find_messages(home_id, remember_messages.session, hashes, times, dated);
    IF array_position(known, NULL) IS NOT NULL THEN
        SELECT array_agg(r.id ORDER BY r.number) INTO stored
        FROM public.remember_many(
            (
                SELECT jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
                    'content', contents[n.number], 'speaker', speakers[n.number], 'session', remember_messages.session,
                    'occurred_at', times[n.number], 'valid_to', options[n.number] -> 'valid_to',
                    'origin', options[n.number] -> 'origin',
                    'tags', remember_messages.tags, 'expires_at', remember_messages.expires_at,
                    'position', COALESCE(last_position, 0) + n.added,
                    -- Calls that store the same list at once find the same place.
                    'external_id', COALESCE(dated[n.number], hashes[n.number] || ':' || COALESCE(last_position, 0) + n.added)
                )) || jsonb_build_object(
                    'metadata', COALESCE(remember_messages.metadata, '{}')
                        || COALESCE(NULLIF(options[n.number] -> 'metadata', 'null'), '{}')
                ) ORDER BY n.number)
                FROM (
                    SELECT g.number, row_number() OVER (ORDER BY g.number) AS added
                    FROM unnest(known) WITH ORDINALITY g (id, number) WHERE g.id IS NULL
                ) n
            ),
            home, create_namespace, 'keep'
        ) WITH ORDINALITY r (id, number);
    END IF;
    RETURN QUERY
        SELECT places[g.number], COALESCE(g.known, f.id),
               -- Another session may have stored it meanwhile.
               g.known IS NULL AND EXISTS (SELECT FROM pgrecall.memories m WHERE m.id = f.id AND m.created_at = now())
        FROM (
            SELECT u.known, u.number, count(*) FILTER (WHERE u.known IS NULL) OVER (ORDER BY u.number) AS added
            FROM unnest(known) WITH ORDINALITY u (known, number)
        ) g
        LEFT JOIN unnest(stored) WITH ORDINALITY f (id, added) ON f.added = g.added AND g.known IS NULL
        ORDER BY g.number;
END
$function$;

ALTER FUNCTION public.remember_messages OWNER TO pgrecall_gate;

REVOKE ALL ON FUNCTION public.remember_messages FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder;
GRANT EXECUTE ON FUNCTION public.remember_messages TO pgrecall_writer;
