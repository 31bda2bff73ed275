-- Checks the argument filter: conditions by name, each with a value of its type. Messages quote nothing that was given.
--
-- PostgreSQL's own cast error quotes the value, and the server's log would contain it. A time is checked by its form only: no
-- EXCEPTION block, which recall() must not have in a parallel query.
--
-- Errors  22023 not an object, no such condition, or another type
CREATE OR REPLACE FUNCTION _pgrecall.check_conditions(filter jsonb)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT SET standard_conforming_strings = on
AS $function$
DECLARE
    moment CONSTANT text := '(-?infinity|\d{4,6}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)? ?(Z|[+-]\d\d(:?\d\d)?)?( BC)?)';
    wrong record;
BEGIN
    IF jsonb_typeof(filter) <> 'object' THEN
        RAISE EXCEPTION 'filter must be an object of conditions, not %', jsonb_typeof(filter)
            USING ERRCODE = 'invalid_parameter_value', HINT = 'For example {"tags_any": ["travel"]}.';
    END IF;
    SELECT e.key AS name, length(e.key) AS length, k.kind,
           (SELECT string_agg(a.attname, ', ' ORDER BY a.attnum) FROM pg_catalog.pg_attribute a
            WHERE a.attrelid = 'pgrecall.recall_conditions'::regclass) AS known
    INTO wrong
    FROM jsonb_each(filter) e
    LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = 'pgrecall.recall_conditions'::regclass AND a.attname = e.key
    CROSS JOIN LATERAL (
        SELECT CASE a.atttypid
                   WHEN 'text[]'::regtype THEN 'an array of strings'
                   WHEN 'text'::regtype THEN 'a string'
                   WHEN 'boolean'::regtype THEN 'true or false'
                   WHEN 'timestamptz'::regtype THEN 'a time in ISO 8601'
                   WHEN 'tstzrange'::regtype THEN 'a range of times in ISO 8601, such as "[2026-03-01,2026-04-01)"'
                   WHEN 'jsonb'::regtype THEN 'an object'
                   WHEN 'pgrecall.memory_origin'::regtype
                       THEN 'one of ' || array_to_string(enum_range(NULL::pgrecall.memory_origin), ', ')
               END AS kind
    ) k
    WHERE a.attname IS NULL
       OR (e.value <> 'null' AND CASE a.atttypid
               WHEN 'text[]'::regtype THEN jsonb_typeof(e.value) <> 'array'
                   OR jsonb_path_exists(e.value, 'strict $[*] ? (@.type() != "string")')
               WHEN 'text'::regtype THEN jsonb_typeof(e.value) <> 'string'
               WHEN 'boolean'::regtype THEN jsonb_typeof(e.value) <> 'boolean'
               WHEN 'timestamptz'::regtype THEN e.value #>> '{}' !~ ('^' || moment || '$')
               WHEN 'tstzrange'::regtype THEN
                   e.value #>> '{}' !~ format('^(empty|[[(]("?%1$s"?)?,("?%1$s"?)?[])])$', moment)
               WHEN 'jsonb'::regtype THEN jsonb_typeof(e.value) <> 'object'
               WHEN 'pgrecall.memory_origin'::regtype
                   THEN jsonb_typeof(e.value) <> 'string' OR NOT _pgrecall.is_origin(e.value #>> '{}')
           END IS NOT FALSE)
    ORDER BY e.key
    LIMIT 1;
    IF wrong.kind IS NOT NULL THEN
        RAISE EXCEPTION 'filter: % must be %', wrong.name, wrong.kind
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Correct the value or leave it out.';
    ELSIF wrong.name IS NOT NULL THEN
        -- The name may be anything, so it is not quoted.
        RAISE EXCEPTION 'filter has a name of % characters that is no condition', wrong.length
            USING ERRCODE = 'invalid_parameter_value', HINT = format('The conditions are %s.', wrong.known);
    END IF;
END
$function$;
