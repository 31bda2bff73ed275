-- Replaces each secret in the keys, strings and numbers of a JSON value, as redact_text() does. NULL stays NULL.
--
-- A string or number is read after its key, so that {"password": "…"} has one; the elements of an array are read after the key of the
-- array, and what stands under "value" after the "name" or "key" beside it, or else the key above it. Keys of one object that become
-- the same marker get numbers, as in [redacted: jwt 2]: none takes the place of another.
--
-- Goes through the text of the value once: a recursion would keep memory for each level of a value that is nested deeply.
CREATE OR REPLACE FUNCTION _pgrecall.redact_json(value jsonb, OUT clean jsonb, OUT kinds text[])
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT SET standard_conforming_strings = on
AS $function$
DECLARE
    parts text[] := '{}'::text[];
    keys text[] := '{}'::text[];  -- the latest key of each level, and what is said to be its name
    names text[] := '{}'::text[];
    objects integer[] := '{}'::integer[];  -- the number of the object of each level
    marked jsonb[] := '{}'::jsonb[];  -- keys with a marker: their object, place and text
    opened integer := 0;
    depth integer := 0;
    token record;
    content text;
    key text;
    read record;
BEGIN
    IF value IS NULL THEN
        RETURN;
    END IF;
    FOR token IN
        -- Strings, numbers, brackets, and what lies between them. A key is followed by a colon.
        SELECT t.part, left(t.part, 1) AS sort, starts_with(lead(t.part) OVER (ORDER BY t.place), ':') AS is_key
        FROM (
            SELECT m.found[1] AS part, m.place
            FROM regexp_matches(value::text, '"(?:[^"\\]|\\.)*"|[][{}]|-?[0-9][0-9.]*|[^]["{}0-9-]+', 'g')
                WITH ORDINALITY m (found, place)
        ) t
        ORDER BY t.place
    LOOP
        IF token.sort IN ('{', '[') THEN
            depth := depth + 1;
            opened := opened + 1;
            objects[depth] := opened;
            names[depth] := NULL;
            -- An array has no keys: its elements have that of the array.
            keys[depth] := CASE WHEN token.sort = '[' AND depth > 1 THEN keys[depth - 1] END;
        ELSIF token.sort IN ('}', ']') THEN
            depth := depth - 1;
        END IF;
        -- A number is a secret by its key alone, and by the rule for a password a long one.
        IF token.sort <> '"' AND (token.part !~ '^[0-9]{6,}$' OR keys[depth] IS NULL) THEN
            parts := array_append(parts, token.part);
            CONTINUE;
        END IF;
        content := token.part::jsonb #>> '{}';
        SELECT t.clean, t.kinds INTO read FROM _pgrecall.redact_text(content) t;
        kinds := array_cat(kinds, read.kinds);
        IF token.is_key THEN
            keys[depth] := CASE WHEN content = 'value' AND depth > 1 THEN COALESCE(names[depth], keys[depth - 1])
                                WHEN content = 'value' THEN names[depth] ELSE content END;
            IF strpos(read.clean, '[redacted: ') > 0 THEN
                marked := array_append(marked, jsonb_build_array(objects[depth], cardinality(parts) + 1, read.clean));
            END IF;
        ELSIF keys[depth] IS NOT NULL THEN
            IF keys[depth] IN ('name', 'key') THEN
                names[depth] := content;
            END IF;
            key := keys[depth] || ': ';
            content := read.clean;
            SELECT t.clean, t.kinds INTO read FROM _pgrecall.redact_text(key || content) t;
            -- A secret that begins in the key is the key's own.
            IF read.kinds IS NOT NULL AND starts_with(read.clean, key) THEN
                kinds := array_cat(kinds, read.kinds);
                read.clean := substr(read.clean, length(key) + 1);
            ELSE
                read.clean := content;
            END IF;
        END IF;
        parts := array_append(
            parts, CASE WHEN token.sort <> '"' AND read.clean = content THEN token.part ELSE to_json(read.clean)::text END
        );
    END LOOP;
    IF kinds IS NULL THEN
        clean := value;
        RETURN;
    END IF;
    -- By the marker that ends last, without its number.
    FOR read IN
        SELECT n.place, n.turn, n.plain
        FROM (
            SELECT k.place, k.plain, row_number() OVER w AS turn, count(*) OVER (PARTITION BY k.object, k.plain) AS alike
            FROM (
                SELECT m.key ->> 0 AS object, (m.key ->> 1)::integer AS place,
                       regexp_replace(m.key ->> 2, '^(.*\[redacted: [a-z-]+)(?: [0-9]+)?\]', '\1]') AS plain
                FROM unnest(marked) m (key)
            ) k
            WINDOW w AS (PARTITION BY k.object, k.plain ORDER BY k.place)
        ) n
        WHERE n.alike > 1
    LOOP
        parts[read.place] := to_json(
            CASE WHEN read.turn = 1 THEN read.plain
                 ELSE regexp_replace(read.plain, '^(.*\[redacted: [a-z-]+)\]', '\1 ' || read.turn || ']') END
        )::text;
    END LOOP;
    clean := array_to_string(parts, '')::jsonb;
END
$function$;
