-- Replaces each secret in the keys and strings of a JSON value, as redact_text() does. A string is read after its key, so that
-- {"password": "…"} has one.
--
-- key  that of the value; NULL: none
CREATE OR REPLACE FUNCTION _pgrecall.redact_json(value jsonb, key text DEFAULT NULL, OUT clean jsonb, OUT kinds text[])
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    prefix CONSTANT text := key || ': ';
    item record;
    read record;
BEGIN
    clean := value;
    IF jsonb_typeof(value) = 'string' THEN
        SELECT t.clean, t.kinds INTO read FROM _pgrecall.redact_text(value #>> '{}') t;
        kinds := read.kinds;
        clean := CASE WHEN kinds IS NULL THEN value ELSE to_jsonb(read.clean) END;
        IF prefix IS NOT NULL THEN
            SELECT t.clean, t.kinds INTO read FROM _pgrecall.redact_text(prefix || (clean #>> '{}')) t;
            -- A secret that begins in the key is the key's own.
            IF read.kinds IS NOT NULL AND starts_with(read.clean, prefix) THEN
                kinds := array_cat(kinds, read.kinds);
                clean := to_jsonb(substr(read.clean, length(prefix) + 1));
            END IF;
        END IF;
    ELSIF jsonb_typeof(value) = 'array' THEN
        clean := '[]';
        FOR item IN
            SELECT r.clean, r.kinds
            FROM jsonb_array_elements(value) WITH ORDINALITY e (value, place)
            CROSS JOIN LATERAL _pgrecall.redact_json(e.value, redact_json.key) r
            ORDER BY e.place
        LOOP
            clean := clean || jsonb_build_array(item.clean);
            kinds := array_cat(kinds, item.kinds);
        END LOOP;
    ELSIF jsonb_typeof(value) = 'object' THEN
        clean := '{}';
        FOR item IN
            SELECT k.clean AS key, r.clean AS value, array_cat(k.kinds, r.kinds) AS kinds
            FROM jsonb_each(value) e
            CROSS JOIN LATERAL _pgrecall.redact_text(e.key) k
            CROSS JOIN LATERAL _pgrecall.redact_json(e.value, e.key) r
        LOOP
            clean := clean || jsonb_build_object(item.key, item.value);
            kinds := array_cat(kinds, item.kinds);
        END LOOP;
    END IF;
END
$function$;
