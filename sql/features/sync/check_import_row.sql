-- Validates a row of import_rows(): its identity, times and embedding.
--
-- subject  name of the row in error messages, such as 'row 3'
--
-- Errors  22023 a field is missing or has the wrong type
CREATE OR REPLACE FUNCTION _pgrecall.check_import_row(value jsonb, subject text)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path FROM CURRENT SET standard_conforming_strings = on
AS $function$
BEGIN
    IF jsonb_typeof(value -> 'memory') IS DISTINCT FROM 'object'
       OR jsonb_typeof(value #> '{memory,external_id}') IS DISTINCT FROM 'string' OR value #>> '{memory,external_id}' = ''
       OR jsonb_typeof(value #> '{memory,metadata}') NOT IN ('object', 'null')
       OR jsonb_typeof(value #> '{import,fingerprint}') IS DISTINCT FROM 'string' THEN
        RAISE EXCEPTION '%: memory with an external_id, or import with a fingerprint, is missing', subject
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Both are needed to detect changed rows.';
    ELSIF value ->> 'updated_at' IS NOT NULL AND NOT _pgrecall.is_time(value ->> 'updated_at')
          OR value ->> 'deleted_at' IS NOT NULL AND NOT _pgrecall.is_time(value ->> 'deleted_at') THEN
        RAISE EXCEPTION '%: updated_at or deleted_at is not a time', subject
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Write it as 2025-01-31T12:00:00Z.';
    ELSIF (value ->> 'deleted_at')::timestamptz = _pgrecall.awaits_successor() THEN
        -- link_imported_memories() would take the memory for one that has no past.
        RAISE EXCEPTION '%: deleted_at is the time that marks an unfinished import', subject
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Write when the row was deleted.';
    ELSIF value ->> 'embedding' !~ '^\[[-+0-9.eE, ]*\]$' THEN
        RAISE EXCEPTION '%: embedding is not a vector', subject
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Write it as [0.1,…].';
    END IF;
END
$function$;
