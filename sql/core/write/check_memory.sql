-- Checks the options of remember() before anything is written: missing, unknown, of the wrong type, too long or out of range.
--
-- fields   a JSON object of options of remember()
-- subject  how messages name the memory, such as 'memory 3'
--
-- Errors  22023 a field is missing, unknown, of the wrong type or out of range;  54000 too long
CREATE OR REPLACE FUNCTION _pgrecall.check_memory(fields jsonb, subject text)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path FROM CURRENT SET standard_conforming_strings = on
AS $function$
DECLARE
    -- The constraints of pgrecall.memories have the same limits. Within them, a text fits the megabyte of a tsvector:
    -- _pgrecall.analyze_text makes at most 3.5 times its size, for Chinese without a repeated pair of characters. A label fits
    -- the 2,704 bytes of an index entry.
    max_content_bytes CONSTANT integer := 262144;
    max_title_bytes CONSTANT integer := 4096;
    max_label_bytes CONSTANT integer := 1024;
    max_items CONSTANT integer := 256;
    max_items_bytes CONSTANT integer := 12288;
    max_metadata_bytes CONSTANT integer := 262144;
    field record;
    expected text;
BEGIN
    IF jsonb_typeof(fields) <> 'object' THEN
        RAISE EXCEPTION '%: expected a JSON object, got %', subject, jsonb_typeof(fields)
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Each memory is an object such as {"content": "…"}.';
    END IF;

    FOR field IN SELECT e.key, e.value, jsonb_typeof(e.value) AS kind FROM jsonb_each(fields) e LOOP
        expected := CASE
            WHEN field.key IN ('content', 'title', 'category', 'source', 'session', 'speaker', 'language', 'external_id',
                               'namespace', 'origin', 'occurred_at', 'created_at', 'valid_from', 'valid_to', 'expires_at') THEN 'string'
            WHEN field.key IN ('tags', 'expanded_keywords') THEN 'array'
            WHEN field.key IN ('importance', 'position') THEN 'number'
            WHEN field.key = 'metadata' THEN 'object'
            WHEN field.key = 'is_sensitive' THEN 'boolean'
        END;
        IF expected IS NULL THEN
            -- An invalid key could be any text, so the message does not quote it.
            RAISE EXCEPTION '%: %', subject,
                CASE WHEN field.key ~ '^[A-Za-z_][A-Za-z0-9_]{0,39}$' THEN format('there is no field "%s"', field.key)
                     ELSE 'one of its keys is not the name of a field' END
                USING ERRCODE = 'invalid_parameter_value', HINT = 'Put other attributes under metadata.';
        ELSIF field.kind NOT IN (expected, 'null') THEN
            RAISE EXCEPTION '%: % must be of type %, not %', subject, field.key, expected, field.kind
                USING ERRCODE = 'invalid_parameter_value', HINT = 'Correct the field or leave it out.';
        END IF;
        -- By type: every memory has several strings, so one passes few tests.
        IF field.kind = 'string' THEN
            CONTINUE WHEN field.key = 'content';
            IF octet_length(field.value #>> '{}') > (CASE field.key WHEN 'title' THEN max_title_bytes ELSE max_label_bytes END) THEN
                RAISE EXCEPTION '%: % is too long', subject, field.key
                    USING ERRCODE = 'program_limit_exceeded', HINT = 'Put long text into content.';
            ELSIF field.key = 'origin' THEN
                PERFORM _pgrecall.check_origin(field.value #>> '{}', subject);
            ELSIF field.key IN ('occurred_at', 'created_at', 'valid_from', 'valid_to', 'expires_at')
                  AND NOT _pgrecall.is_time(field.value #>> '{}')
                  AND NOT (field.key IN ('valid_to', 'expires_at') AND lower(field.value #>> '{}') = 'infinity') THEN
                RAISE EXCEPTION '%: % is not a time from 0001-01-02 to 9999-12-31 UTC', subject, field.key
                    USING ERRCODE = 'invalid_parameter_value',
                          HINT = 'Write it as 2025-01-31T12:00:00Z. valid_to and expires_at also take infinity: no end.';
            END IF;
        ELSIF field.kind = 'array' THEN
            IF jsonb_path_exists(field.value, 'strict $[*] ? (@.type() != "string")') THEN
                RAISE EXCEPTION '%: % must be an array of strings', subject, field.key
                    USING ERRCODE = 'invalid_parameter_value', HINT = 'Correct the field or leave it out.';
            ELSIF jsonb_array_length(field.value) > max_items THEN
                RAISE EXCEPTION '%: % has % items; % is the limit', subject, field.key, jsonb_array_length(field.value), max_items
                    USING ERRCODE = 'program_limit_exceeded', HINT = 'Keep the ones that matter.';
            ELSIF octet_length(field.value::text) > max_label_bytes AND (
                octet_length(field.value::text) > max_items_bytes
                OR EXISTS (SELECT FROM jsonb_array_elements_text(field.value) item WHERE octet_length(item) > max_label_bytes)
            ) THEN
                RAISE EXCEPTION '%: % has too much text', subject, field.key
                    USING ERRCODE = 'program_limit_exceeded',
                          HINT = format('%s bytes are the limit, %s for one item.', max_items_bytes, max_label_bytes);
            END IF;
        ELSIF field.kind = 'object' THEN
            IF NOT _pgrecall.is_plain_json(field.value) THEN
                RAISE EXCEPTION '%: metadata is nested too deeply or has a number out of range', subject
                    USING ERRCODE = 'program_limit_exceeded',
                          HINT = 'It has at most 64 levels and numbers up to 1e308. Write others as text.';
            ELSIF octet_length(field.value::text) > max_metadata_bytes THEN
                RAISE EXCEPTION '%: metadata has % bytes; % is the limit', subject, octet_length(field.value::text), max_metadata_bytes
                    USING ERRCODE = 'program_limit_exceeded', HINT = 'Store documents elsewhere, and their address in metadata.';
            END IF;
        END IF;
    END LOOP;

    IF fields ? 'content' AND _pgrecall.is_blank(fields ->> 'content') THEN
        RAISE EXCEPTION '%: content is empty', subject
            USING ERRCODE = 'invalid_parameter_value', HINT = 'A memory needs words; forget() removes one.';
    ELSIF octet_length(fields ->> 'content') > max_content_bytes THEN
        RAISE EXCEPTION '%: content has % bytes; % is the limit', subject, octet_length(fields ->> 'content'), max_content_bytes
            USING ERRCODE = 'program_limit_exceeded', HINT = 'Split it into several memories.';
    ELSIF (fields ->> 'importance')::numeric NOT BETWEEN 0 AND 1
          -- It would underflow: the smallest real is 1.4e-45, which an export writes as 1e-45.
          OR (fields ->> 'importance')::numeric > 0 AND (fields ->> 'importance')::numeric < 7.01e-46 THEN
        RAISE EXCEPTION '%: importance must be between 0 and 1, not %', subject, left(fields ->> 'importance', 40)
            USING ERRCODE = 'invalid_parameter_value', HINT = '0.5 is the default, 1 the most important.';
    ELSIF (fields ->> 'position')::numeric NOT BETWEEN -2147483648 AND 2147483647
          OR scale((fields ->> 'position')::numeric) > 0 THEN
        RAISE EXCEPTION '%: position must be a whole number, not %', subject, left(fields ->> 'position', 40)
            USING ERRCODE = 'invalid_parameter_value', HINT = 'It is the place of the memory in its session: 1, 2, 3, …';
    ELSIF (fields ->> 'valid_to')::timestamptz < (fields ->> 'valid_from')::timestamptz THEN
        RAISE EXCEPTION '%: valid_to is before valid_from', subject
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Swap them, or leave one out.';
    END IF;
END
$function$;
