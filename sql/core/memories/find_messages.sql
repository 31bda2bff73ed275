-- Finds which messages of a list a session has already. Returns their memories in the order of the list, NULL for a new one.
--
-- remember_messages() says when a message is the same. It reads as many rows as the list has messages, and the whole session only
-- if the list was edited.
--
-- hashes  of session, speaker and text: what the external_id of a message begins with
-- times   of the messages; NULL: not known, so it fits every time
-- dated   external ids of the messages that have a time
CREATE OR REPLACE FUNCTION _pgrecall.find_messages(
    namespace_id integer, session text, hashes text[], times timestamptz[], dated text[]
)
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    hash_length CONSTANT integer := 72;
    given CONSTANT integer := cardinality(hashes);
    known bigint[] := array_fill(NULL::bigint, ARRAY[given]);
    said_ids bigint[];
    said_hashes text[];
    said_times timestamptz[];
    overlap integer;
    at_start integer := 0;
    next integer := 0;
BEGIN
    SELECT array_agg(t.id ORDER BY t."position", t.id), array_agg(left(t.external_id, hash_length) ORDER BY t."position", t.id),
           array_agg(t.occurred_at ORDER BY t."position", t.id)
    INTO said_ids, said_hashes, said_times
    FROM (
        SELECT m.id, m."position", m.external_id, m.occurred_at FROM pgrecall.memories m
        WHERE m.namespace_id = find_messages.namespace_id AND m.session = find_messages.session
          AND m."position" IS NOT NULL AND starts_with(m.external_id, 'message:')
        ORDER BY m."position" DESC, m.id DESC
        LIMIT given
    ) t;
    -- What the session ends with and the list begins with.
    SELECT COALESCE(max(o.length), 0) INTO overlap
    FROM (
        SELECT s.place, (cardinality(said_ids) - s.place + 1)::integer AS length
        FROM unnest(said_hashes) WITH ORDINALITY s (hash, place) WHERE s.hash = hashes[1]
    ) o
    WHERE said_hashes[o.place:] = hashes[1:o.length]
      AND NOT EXISTS (
          SELECT FROM unnest(times[1:o.length], said_times[o.place:]) b (given_at, said_at)
          WHERE b.given_at IS DISTINCT FROM COALESCE(b.said_at, '-infinity') AND b.given_at IS NOT NULL
      );
    IF overlap > 0 THEN
        known[1:overlap] := said_ids[cardinality(said_ids) - overlap + 1:];
    END IF;

    IF overlap < least(2, cardinality(said_ids)) AND given > 2 THEN
        SELECT count(*)::integer INTO at_start
        FROM (
            SELECT bool_and(left(f.external_id, hash_length) = g.hash AND (g.said_at IS NULL OR f.occurred_at = g.said_at))
                       OVER (ORDER BY g.place) AS is_same
            FROM unnest(hashes, times) WITH ORDINALITY g (hash, said_at, place)
            JOIN (
                SELECT s.external_id, s.occurred_at, row_number() OVER (ORDER BY s."position", s.id) AS place
                FROM (
                    SELECT m.id, m."position", m.external_id, m.occurred_at FROM pgrecall.memories m
                    WHERE m.namespace_id = find_messages.namespace_id AND m.session = find_messages.session
                      AND m."position" IS NOT NULL AND starts_with(m.external_id, 'message:')
                    ORDER BY m."position", m.id
                    LIMIT given
                ) s
            ) f USING (place)
        ) c
        WHERE c.is_same;
    END IF;
    IF at_start >= 2 THEN
        -- The whole list, which was edited: each message is the next one of the session that is the same, up to one that is new.
        SELECT array_agg(m.id ORDER BY m."position", m.id), array_agg(left(m.external_id, hash_length) ORDER BY m."position", m.id),
               array_agg(m.occurred_at ORDER BY m."position", m.id)
        INTO said_ids, said_hashes, said_times
        FROM pgrecall.memories m
        WHERE m.namespace_id = find_messages.namespace_id AND m.session = find_messages.session
          AND m."position" IS NOT NULL AND starts_with(m.external_id, 'message:');
        known := array_fill(NULL::bigint, ARRAY[given]);
        FOR turn IN 1 .. given LOOP
            LOOP
                next := array_position(said_hashes, hashes[turn], next + 1);
                EXIT WHEN next IS NULL OR times[turn] IS NULL OR said_times[next] = times[turn];
            END LOOP;
            EXIT WHEN next IS NULL;
            known[turn] := said_ids[next];
        END LOOP;
    END IF;
    RETURN ARRAY(
        SELECT COALESCE(g.known, m.id)
        FROM unnest(known, dated) WITH ORDINALITY g (known, external_id, place)
        LEFT JOIN pgrecall.memories m
            ON m.namespace_id = find_messages.namespace_id AND m.external_id = g.external_id AND g.known IS NULL
        ORDER BY g.place
    );
END
$function$;
