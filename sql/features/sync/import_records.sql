-- Stores lines of pgrecall.export_records(), whose ids are those of this database, all or none, and changes nothing that is
-- there. Roles in the history are marked as imported.
--
-- Nothing that is there is changed, and what is there already is not stored again. History comes as it was: actions, times,
-- values; the roles of others are marked "imported:", because whoever may write can have written the lines. Retention
-- rules and policies for secrets need the right to call set_retention() and set_secrets().
--
-- place    position of the line in the array, from 1
-- outcome  'stored'; 'present'; 'differs' if another rule, query or learned setting stands there and is kept; 'refused' if the
--          role may not set it; 'missing' if a memory is not in the namespace
--
-- Errors  22023 see _pgrecall.check_record;  54000 too long;  42704, 42501 see _pgrecall.check_namespace
CREATE OR REPLACE FUNCTION pgrecall.import_records(lines jsonb)
RETURNS TABLE (place integer, outcome text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT SET IntervalStyle = postgres
AS $function$
#variable_conflict use_column
DECLARE
    item record;
    home integer;
    homes integer[];
BEGIN
    IF jsonb_typeof(lines) IS DISTINCT FROM 'array' THEN
        RAISE EXCEPTION 'lines must be a JSON array, not %', COALESCE(jsonb_typeof(lines), 'NULL')
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass the lines of an export as one array.';
    END IF;
    PERFORM _pgrecall.check_record(e.line, 'line ' || e.place)
    FROM jsonb_array_elements(lines) WITH ORDINALITY e (line, place);
    SELECT array_agg(pgrecall.create_namespace(n.name, n.language)) INTO homes
    FROM (
        SELECT e.line ->> 'namespace' AS name, COALESCE(min(e.line ->> 'language'), 'english') AS language
        FROM jsonb_array_elements(lines) e (line)
        GROUP BY 1
        ORDER BY 1
    ) n;
    PERFORM _pgrecall.check_namespace(n.name, false)
    FROM (SELECT DISTINCT e.line ->> 'namespace' AS name FROM jsonb_array_elements(lines) e (line)) n;
    PERFORM _pgrecall.serialize_imports(homes);

    FOR item IN
        SELECT e.line, e.place::integer AS place, e.line ->> 'kind' AS kind
        FROM jsonb_array_elements(lines) WITH ORDINALITY e (line, place) ORDER BY e.place
    LOOP
        home := pgrecall.namespace_id(item.line ->> 'namespace');
        place := item.place;
        -- The earlier texts of a memory, where its own is stored without secrets.
        IF item.kind = 'change' AND EXISTS (
            SELECT FROM pgrecall.memories m
            WHERE m.id = (item.line ->> 'memory')::bigint
              AND _pgrecall.secrets_policy(home, m.external_id) IN ('refuse', 'redact')
        ) THEN
            item.line := (_pgrecall.redact_json(item.line)).clean;
        END IF;
        outcome := _pgrecall.record_state(home, item.line);
        IF outcome IS NULL AND EXISTS (
            SELECT FROM jsonb_path_query(
                jsonb_build_array(item.line -> 'memory', item.line -> 'note', item.line -> 'useful', item.line -> 'useless'),
                'lax $[*][*] ? (@.type() == "number")'
            ) i (id)
            WHERE NOT _pgrecall.owns_memory(home, i.id::bigint)
        ) THEN
            outcome := 'missing';
        ELSIF outcome IS NULL AND NOT has_function_privilege(
            pgrecall.session_role()::oid,
            CASE item.kind
                WHEN 'namespace' THEN 'pgrecall.set_secrets(text, text, text)'
                WHEN 'retention' THEN 'pgrecall.set_retention(text, interval, text, text)'
            END,
            'EXECUTE'
        ) THEN
            outcome := 'refused';
        ELSIF outcome IS NULL THEN
            PERFORM _pgrecall.store_record(home, item.line, 'line ' || item.place);
            outcome := 'stored';
        END IF;
        RETURN NEXT;
    END LOOP;
END
$function$;

ALTER FUNCTION pgrecall.import_records OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.import_records TO pgrecall_writer;
