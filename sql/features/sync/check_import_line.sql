-- Validates a line of an export, and returns the options of remember() that it holds.
--
-- subject  name of the line in error messages, such as 'line 3'
--
-- Errors  22023 of another format; a field missing, unknown, of the wrong type or out of range;  54000 too long
CREATE OR REPLACE FUNCTION _pgrecall.check_import_line(line jsonb, subject text)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path FROM CURRENT SET standard_conforming_strings = on
AS $function$
DECLARE
    kinds CONSTANT jsonb := jsonb '{
        "pgrecall": "number", "id": "number", "namespace": "string", "namespace_language": "string",
        "updated_at": "string", "deleted_at": "string", "superseded_by": "number", "superseded_at": "string",
        "text_hash": "string", "embeddings": "array"
    }';
    own text[] := ARRAY(SELECT jsonb_object_keys(kinds));
    field record;
BEGIN
    IF jsonb_typeof(line) <> 'object' OR line -> 'pgrecall' IS DISTINCT FROM '1' THEN
        RAISE EXCEPTION '%: not a line of an export of format 1', subject
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Import it with the version of pgrecall that exported it, or a newer one.';
    ELSIF num_nulls(line ->> 'id', line ->> 'namespace', line ->> 'created_at') > 0 THEN
        RAISE EXCEPTION '%: id, namespace or created_at is missing', subject
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Remove the key "pgrecall" to import the line as a new memory.';
    END IF;
    FOR field IN SELECT e.key, e.value, jsonb_typeof(e.value) AS kind FROM jsonb_each(line) e WHERE kinds ? e.key LOOP
        IF field.kind <> kinds ->> field.key
           OR field.key IN ('id', 'superseded_by')
              AND (scale((field.value #>> '{}')::numeric) > 0
                   OR (field.value #>> '{}')::numeric NOT BETWEEN 0 AND 9223372036854775807)
           OR field.key LIKE '%\_at' AND NOT _pgrecall.is_time(field.value #>> '{}')
           OR field.key = 'text_hash' AND field.value #>> '{}' !~ '^([0-9a-f]{2})*$'
           OR field.key = 'embeddings' AND jsonb_path_exists(
                field.value,
                'lax $[*] ? (
                    !(@.model.type() == "string" && @.dimension.type() == "number" && @.vector.type() == "string")
                    || !(@.vector like_regex "^\\[[-+0-9.eE, ]*\\]$")
                    || exists(@.passages) && @.passages.type() != "array"
                )'
              )
        THEN
            RAISE EXCEPTION '%: % is not what an export writes', subject, field.key
                USING ERRCODE = 'invalid_parameter_value', HINT = 'Correct the field or leave it out.';
        END IF;
    END LOOP;
    PERFORM _pgrecall.check_memory('{"content": null}' || (line - own), subject);
    RETURN (line - own) || jsonb_build_object('namespace', line -> 'namespace');
END
$function$;
