-- Stores the notes of claimed messages of one session as memories, all or none. Returns how many messages were completed.
--
-- A note is a memory of category "note" in the session of its messages, with the speaker, metadata, tags, times and expiry of
-- the first of them. Its external_id is a hash of session and text, so a note is stored once per session, whoever states it
-- and however often; further messages become evidence of the same note. A note that a user has forgotten stays forgotten; one
-- that was withdrawn with its message comes back. Notes that these messages stated before and no longer state are withdrawn.
--
-- It has the least trusted origin of its messages, because they may state it only together.
--
-- A message needs the ticket of its claim (claim_extractions with enricher notes). A ticket becomes invalid when the text
-- changes or the message becomes sensitive or is forgotten: then it states nothing here and is read again, and so are the
-- messages that state a note together with it. Stores nothing if the setting extract_notes is off.
--
-- Waits for nobody for long: if another transaction holds something for more than a quarter of a second, nothing is stored,
-- and the messages are claimed again some seconds later.
--
-- version  of the model and the prompt
-- claims   [{"memory_id", "ticket"}]
-- notes    [{"text", "memory_ids"}]: 1 to 500 characters, and the claimed messages that state it
--
-- Errors  22023 not an array, an invalid value, or messages of several sessions;  54000 more than 64 notes
CREATE OR REPLACE FUNCTION pgrecall.complete_notes(version text, claims jsonb, notes jsonb)
RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
-- A generic plan made while the tables were empty would scan them from then on.
SET enable_seqscan = 'off'
SET plan_cache_mode = 'force_generic_plan'
SET lock_timeout = '250ms'
AS $function$
DECLARE
    wrong bigint;
    ids bigint[];
    outdated bigint[];
    sessions bigint;
    note record;
    found bigint;
    least_trusted pgrecall.memory_origin;
    kept bigint[] := '{}'::bigint[];
BEGIN
    IF jsonb_typeof(claims) IS DISTINCT FROM 'array' OR jsonb_typeof(notes) IS DISTINCT FROM 'array' THEN
        RAISE EXCEPTION 'claims and notes are JSON arrays'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Pass [{"memory_id": 1, "ticket": 2}] and [{"text": "…", "memory_ids": [1]}].';
    ELSIF jsonb_array_length(notes) > 64 THEN
        RAISE EXCEPTION '% notes at once', jsonb_array_length(notes)
            USING ERRCODE = 'program_limit_exceeded', HINT = 'Pass at most 64.';
    END IF;
    PERFORM _pgrecall.check_typed(c.item, 'claim ' || c.place, ids => '{memory_id,ticket}')
    FROM jsonb_array_elements(claims) WITH ORDINALITY c (item, place);
    SELECT min(n.place) INTO wrong
    FROM jsonb_array_elements(notes) WITH ORDINALITY n (item, place)
    WHERE jsonb_typeof(n.item) <> 'object' OR jsonb_typeof(n.item -> 'text') IS DISTINCT FROM 'string'
       OR length(n.item ->> 'text') > 500 OR _pgrecall.is_blank(n.item ->> 'text')
       OR jsonb_typeof(n.item -> 'memory_ids') IS DISTINCT FROM 'array'
       OR EXISTS (
            SELECT FROM jsonb_array_elements(
                CASE WHEN jsonb_typeof(n.item -> 'memory_ids') = 'array' THEN n.item -> 'memory_ids' ELSE '[]' END
            ) i (id)
            WHERE NOT _pgrecall.is_id(i.id::text)
        );
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION 'note %: expected a text of 1 to 500 characters and an array of memory_ids', wrong
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Nothing of this call was stored.';
    END IF;

    -- Messages before their rows in the queue: that is the order of those who erase.
    PERFORM FROM pgrecall.memories m
    WHERE m.id = ANY (ARRAY(SELECT (c.item ->> 'memory_id')::bigint FROM jsonb_array_elements(claims) c (item)))
    ORDER BY m.id
    FOR KEY SHARE;
    WITH held AS MATERIALIZED (
        SELECT x.memory_id
        FROM jsonb_array_elements(claims) c (item)
        CROSS JOIN LATERAL (
            SELECT x.memory_id FROM pgrecall.jobs x
            WHERE x.memory_id = (c.item ->> 'memory_id')::bigint AND x.kind = 'notes' AND x.generation_id = 0
              AND x.ticket = (c.item ->> 'ticket')::bigint
            LIMIT 1
            FOR UPDATE
        ) x
    )
    SELECT array_agg(m.id ORDER BY m.id), count(DISTINCT (m.namespace_id, m.session)) INTO ids, sessions
    FROM held h
    JOIN pgrecall.memories m ON m.id = h.memory_id
    WHERE NOT m.is_sensitive AND m.deleted_at IS NULL AND m.session IS NOT NULL;
    IF ids IS NULL OR pgrecall.stored_setting('extract_notes') <> 'on' THEN
        RETURN 0;
    ELSIF sessions > 1 THEN
        RAISE EXCEPTION 'the messages are of % sessions', sessions
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Complete each session by a call of its own.';
    END IF;

    -- A note of a message that has changed meanwhile may say what that message no longer says.
    SELECT array_agg(DISTINCT i.id::text::bigint) INTO outdated
    FROM jsonb_array_elements(notes) n (item)
    CROSS JOIN LATERAL jsonb_array_elements(n.item -> 'memory_ids') i (id)
    WHERE EXISTS (
        SELECT FROM jsonb_array_elements(n.item -> 'memory_ids') o (id)
        JOIN jsonb_array_elements(claims) c (item) ON c.item ->> 'memory_id' = o.id::text
        WHERE o.id::text::bigint <> ALL (ids)
    );
    -- follow_message() skips what is locked here.
    PERFORM FROM pgrecall.extractions x WHERE x.memory_id = ANY (ids) AND x.enricher = 'notes' ORDER BY x.memory_id FOR UPDATE;
    ids := ARRAY(SELECT u.id FROM unnest(ids) u (id) WHERE u.id <> ALL (COALESCE(outdated, '{}')) ORDER BY u.id);
    FOR note IN
        -- In the order of the keys, so that two calls with the same notes wait instead of deadlocking.
        SELECT k.key, min(k.text) AS text, array_agg(DISTINCT k.memory_id) AS evidence
        FROM (
            SELECT _pgrecall.note_key(m.session, (_pgrecall.redact_text(n.item ->> 'text')).clean) AS key,
                   n.item ->> 'text' AS text, m.id AS memory_id
            FROM jsonb_array_elements(notes) n (item)
            CROSS JOIN LATERAL jsonb_array_elements(n.item -> 'memory_ids') i (id)
            JOIN pgrecall.memories m ON m.id = i.id::text::bigint AND m.id = ANY (ids)
        ) k
        GROUP BY k.key
        ORDER BY k.key
    LOOP
        SELECT min(m.origin) INTO least_trusted FROM pgrecall.memories m WHERE m.id = ANY (note.evidence);
        SELECT (_pgrecall.insert_memories(jsonb_build_array(jsonb_strip_nulls(jsonb_build_object(
                   'content', note.text, 'external_id', note.key, 'category', 'note', 'session', m.session, 'speaker', m.speaker,
                   'source', m.source, 'language', m.language, 'tags', m.tags, 'occurred_at', COALESCE(m.occurred_at, m.created_at),
                   'valid_from', m.valid_from, 'valid_to', m.valid_to, 'expires_at', m.expires_at,
                   'origin', least_trusted
               )) || jsonb_build_object('metadata', m.metadata)), h.name))[1]
        INTO found
        FROM pgrecall.memories m
        JOIN pgrecall.namespaces h ON h.id = m.namespace_id
        WHERE m.id = note.evidence[1];
        IF found IS NULL THEN
            SELECT n.id INTO found
            FROM pgrecall.memories m
            JOIN pgrecall.memories n ON n.namespace_id = m.namespace_id AND n.external_id = note.key AND NOT n.is_sensitive
            WHERE m.id = note.evidence[1];
            -- It is sensitive now.
            CONTINUE WHEN found IS NULL;
            PERFORM FROM pgrecall.memories n WHERE n.id = found FOR NO KEY UPDATE;
            UPDATE pgrecall.memories n SET deleted_at = NULL, updated_at = now()
            WHERE n.id = found AND n.deleted_at IS NOT NULL AND NOT n.is_sensitive
              AND EXISTS (SELECT FROM pgrecall.note_evidence e WHERE e.note_id = n.id)
              AND NOT EXISTS (SELECT FROM pgrecall.note_evidence e WHERE e.note_id = n.id AND e.is_stated);
            UPDATE pgrecall.memories n SET origin = least_trusted, updated_at = now()
            WHERE n.id = found AND n.deleted_at IS NULL AND n.origin > least_trusted;
            -- It lasts as long as the message that lasts longest.
            UPDATE pgrecall.memories n
            SET expires_at = CASE WHEN l.is_open THEN NULL ELSE greatest(n.expires_at, l.last) END, updated_at = now()
            FROM (
                SELECT bool_or(m.expires_at IS NULL) AS is_open, max(m.expires_at) AS last
                FROM pgrecall.memories m WHERE m.id = ANY (note.evidence)
            ) l
            WHERE n.id = found AND n.deleted_at IS NULL AND n.expires_at IS NOT NULL AND (l.is_open OR l.last > n.expires_at);
        END IF;
        INSERT INTO pgrecall.note_evidence AS e (memory_id, note_id)
        SELECT u.id, found FROM unnest(note.evidence) u (id)
        ON CONFLICT ON CONSTRAINT note_evidence_pkey DO UPDATE SET is_stated = true WHERE NOT e.is_stated;
        kept := kept || found;
    END LOOP;
    PERFORM _pgrecall.withdraw_notes(u.id, kept) FROM unnest(ids) u (id);
    PERFORM _pgrecall.note_extractions('notes', version, ids);
    RETURN cardinality(ids);
EXCEPTION
    WHEN lock_not_available THEN
        PERFORM _pgrecall.postpone_jobs('notes', claims);
        RETURN 0;
END
$function$;

ALTER FUNCTION pgrecall.complete_notes OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.complete_notes TO pgrecall_embedder;
