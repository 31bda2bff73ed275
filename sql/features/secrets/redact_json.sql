-- Replaces each secret in the keys and strings of a JSON value, as redact_text() does. A string is read after its key, so that
-- {"password": "…"} has one; the elements of an array are read after the key of the array.
--
-- Goes through the text of the value once: a recursion would keep memory for each level of a value that is nested deeply.
CREATE OR REPLACE FUNCTION _pgrecall.redact_json(value jsonb, OUT clean jsonb, OUT kinds text[])
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    parts text[] := '{}';
    keys text[] := '{}';  -- the latest key of each level
    depth integer := 0;
    token record;
    content text;
    key text;
    read record;
BEGIN
    FOR token IN
        -- Strings, and what lies between them. A key is followed by a colon.
        SELECT t.part, starts_with(t.part, '"') AS is_string, starts_with(lead(t.part) OVER (ORDER BY t.place), ':') AS is_key
        FROM (
            SELECT m.found[1] AS part, m.place
            FROM regexp_matches(value::text, '"(?:[^"\\]|\\.)*"|[^"]+', 'g') WITH ORDINALITY m (found, place)
        ) t
        ORDER BY t.place
    LOOP
        IF NOT token.is_string THEN
            FOR read IN SELECT b.bracket[1] AS bracket FROM regexp_matches(token.part, '[][{}]', 'g') b (bracket) LOOP
                depth := depth + CASE WHEN read.bracket IN ('{', '[') THEN 1 ELSE -1 END;
                -- An array has no keys: its elements have that of the array.
                IF read.bracket IN ('{', '[') THEN
                    keys[depth] := CASE WHEN read.bracket = '[' AND depth > 1 THEN keys[depth - 1] END;
                END IF;
            END LOOP;
            parts := array_append(parts, token.part);
            CONTINUE;
        END IF;
        content := token.part::jsonb #>> '{}';
        SELECT t.clean, t.kinds INTO read FROM _pgrecall.redact_text(content) t;
        kinds := array_cat(kinds, read.kinds);
        IF token.is_key THEN
            keys[depth] := content;
        ELSIF keys[depth] IS NOT NULL THEN
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
        parts := array_append(parts, to_json(read.clean)::text);
    END LOOP;
    clean := array_to_string(parts, '')::jsonb;
END
$function$;
