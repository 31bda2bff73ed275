-- Validates the items of an extraction: missing values and wrong types. The message names the place and quotes nothing.
--
-- items see complete_extractions
--
-- Errors  22023 the first invalid value
CREATE OR REPLACE FUNCTION _pgrecall.check_extraction(items jsonb)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    problem text;
BEGIN
    IF jsonb_typeof(items) IS DISTINCT FROM 'array' THEN
        problem := 'what was read is no JSON array';
    ELSE
        SELECT format('item %s: %s', checked.place - 1, checked.what)
        INTO problem
        FROM (
            SELECT r.place, CASE
                WHEN jsonb_typeof(r.item) <> 'object' THEN 'is no object'
                WHEN jsonb_typeof(r.item -> 'memory_id') IS DISTINCT FROM 'number'
                     OR NOT _pgrecall.is_id(r.item ->> 'memory_id') THEN 'memory_id is no whole number'
                WHEN jsonb_typeof(r.item -> 'ticket') IS DISTINCT FROM 'number'
                     OR NOT _pgrecall.is_id(r.item ->> 'ticket') THEN 'ticket is no whole number'
                WHEN jsonb_typeof(r.item -> 'mentions') <> 'array' THEN 'mentions are no array'
                WHEN jsonb_typeof(r.item -> 'times') <> 'array' THEN 'times are no array'
                WHEN jsonb_typeof(r.item -> 'facts') <> 'array' THEN 'facts are no array'
                WHEN count(*) OVER (PARTITION BY r.item -> 'memory_id') > 1 THEN 'its memory is there twice'
            END AS what
            FROM jsonb_array_elements(items) WITH ORDINALITY r (item, place)
        ) checked
        WHERE checked.what IS NOT NULL
        ORDER BY checked.place
        LIMIT 1;
    END IF;
    IF problem IS NULL THEN
        -- The type of a missing value is NULL: IN and the patterns below accept it unless it is required.
        SELECT format('item %s, %s %s: %s', r.place - 1, kind.name, e.place - 1, wrong.what)
        INTO problem
        FROM jsonb_array_elements(items) WITH ORDINALITY r (item, place)
        CROSS JOIN (VALUES ('mentions'), ('times'), ('facts')) kind (name)
        CROSS JOIN LATERAL jsonb_array_elements(r.item -> kind.name) WITH ORDINALITY e (item, place)
        CROSS JOIN LATERAL (
            SELECT CASE
                WHEN jsonb_typeof(e.item) <> 'object' THEN 'is no object'
                WHEN COALESCE(jsonb_typeof(e.item -> 'confidence'), 'null') NOT IN ('number', 'null') THEN 'confidence is no number'
                -- Nearer to 0 it would underflow, and the error of the cast would quote it.
                WHEN CASE WHEN jsonb_typeof(e.item -> 'confidence') = 'number' THEN (e.item -> 'confidence')::numeric <> 0
                          AND abs((e.item -> 'confidence')::numeric) NOT BETWEEN 1e-37 AND 1e6 END
                    THEN 'confidence is not between 0 and 1, or too near to 0'
                WHEN COALESCE(e.item -> 'start', 'null')::text !~ '^(null|-?[0-9]{1,9})$' THEN 'start is no whole number'
                WHEN COALESCE(e.item -> 'end', 'null')::text !~ '^(null|-?[0-9]{1,9})$' THEN 'end is no whole number'
                WHEN COALESCE(e.item ->> 'source', '') !~ '^[a-z][a-z0-9_:.-]{0,39}$'
                     OR jsonb_typeof(e.item -> 'source') <> 'string' THEN 'source is no name in small letters'
                WHEN kind.name = 'mentions' THEN CASE
                    WHEN jsonb_typeof(e.item -> 'name') IS DISTINCT FROM 'string' THEN 'name is no string'
                    WHEN jsonb_typeof(e.item -> 'type') IS DISTINCT FROM 'string'
                         OR (e.item ->> 'type') !~ '^[A-Z][A-Z0-9_]{0,39}$' THEN 'type is no word in capitals'
                    WHEN e.item ->> 'source' IN ('tag', 'keyword') THEN 'its source is not an extraction''s'
                    WHEN COALESCE(jsonb_typeof(e.item -> 'is_about'), 'null') NOT IN ('boolean', 'null') THEN 'is_about is no boolean'
                END
                WHEN kind.name = 'times' THEN CASE
                    WHEN jsonb_typeof(e.item -> 'from_at') IS DISTINCT FROM 'string' OR NOT _pgrecall.is_time(e.item ->> 'from_at')
                        THEN 'from_at is no time'
                    WHEN jsonb_typeof(e.item -> 'to_at') IS DISTINCT FROM 'string' OR NOT _pgrecall.is_time(e.item ->> 'to_at')
                        THEN 'to_at is no time'
                    WHEN COALESCE(jsonb_typeof(e.item -> 'granularity'), 'null') NOT IN ('string', 'null') THEN 'granularity is no string'
                END
                WHEN jsonb_typeof(e.item -> 'subject') IS DISTINCT FROM 'string' THEN 'subject is no string'
                WHEN jsonb_typeof(e.item -> 'object') IS DISTINCT FROM 'string' THEN 'object is no string'
                WHEN jsonb_typeof(e.item -> 'label') IS DISTINCT FROM 'string' OR btrim(e.item ->> 'label') = '' THEN 'label is no text'
                WHEN COALESCE(jsonb_typeof(e.item -> 'statement'), 'null') NOT IN ('string', 'null') THEN 'statement is no string'
                WHEN COALESCE(jsonb_typeof(e.item -> 'is_exclusive'), 'null') NOT IN ('boolean', 'null')
                    THEN 'is_exclusive is no boolean'
                WHEN e.item ->> 'valid_from' IS NOT NULL AND NOT _pgrecall.is_time(e.item ->> 'valid_from') THEN 'valid_from is no time'
                WHEN e.item ->> 'valid_to' IS NOT NULL AND NOT _pgrecall.is_time(e.item ->> 'valid_to') THEN 'valid_to is no time'
                WHEN (e.item ->> 'valid_to')::timestamptz < (e.item ->> 'valid_from')::timestamptz THEN 'it ends before it begins'
            END
        ) wrong (what)
        WHERE wrong.what IS NOT NULL
        LIMIT 1;
    END IF;
    IF problem IS NOT NULL THEN
        RAISE EXCEPTION 'not what an extraction reads: %', problem
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'See the header of complete_extractions for what an item has. Nothing of this call was stored.';
    END IF;
END
$function$;
