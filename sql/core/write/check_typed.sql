-- Checks that the values of a JSON object have the types they will be cast to: ids, times and hashes. Messages name the key
-- and quote nothing.
--
-- PostgreSQL's own cast error quotes the value, and the server's log would contain it.
--
-- subject             how messages name the object
-- ids, times, hashes  keys to check; a missing or null value passes
--
-- Errors  22023 not an object; a value that is not an id, a time, or hexadecimal bytes
CREATE OR REPLACE FUNCTION _pgrecall.check_typed(
    fields jsonb, subject text, ids text[] DEFAULT '{}', times text[] DEFAULT '{}', hashes text[] DEFAULT '{}'
)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    field record;
    expected text;
BEGIN
    IF jsonb_typeof(fields) IS DISTINCT FROM 'object' THEN
        RAISE EXCEPTION '%: expected a JSON object, got %', subject, COALESCE(jsonb_typeof(fields), 'NULL')
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass an object with the keys that the reference names.';
    END IF;
    FOR field IN
        SELECT e.key, e.value #>> '{}' AS value FROM jsonb_each(fields) e
        WHERE e.key = ANY (ids || times || hashes) AND e.value <> 'null'
        ORDER BY e.key
    LOOP
        expected := CASE
            WHEN field.key = ANY (ids) AND NOT _pgrecall.is_id(field.value) THEN 'an id'
            WHEN field.key = ANY (times) AND NOT _pgrecall.is_time(field.value) THEN 'a time'
            WHEN field.key = ANY (hashes) AND field.value !~ '^([0-9a-f]{2})*$' THEN 'a hash in hex'
        END;
        IF expected IS NOT NULL THEN
            RAISE EXCEPTION '%: % is not %', subject, field.key, expected
                USING ERRCODE = 'invalid_parameter_value', HINT = 'Correct the value or leave it out.';
        END IF;
    END LOOP;
END
$function$;
