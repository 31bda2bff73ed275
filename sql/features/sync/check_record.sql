-- Validates a line of export_records(): kind, keys, types and times.
--
-- subject  name of the line in error messages, such as 'line 3'
--
-- Errors  22023 not what an export writes
CREATE OR REPLACE FUNCTION _pgrecall.check_record(line jsonb, subject text)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path FROM CURRENT SET standard_conforming_strings = on
AS $function$
DECLARE
    -- The fields of each kind, and their types.
    kinds CONSTANT jsonb := jsonb '{
        "namespace": {"language": "string", "secrets": "string?", "secrets_in_messages": "string?"},
        "retention": {"category": "string?", "keep": "string", "action": "string"},
        "page": {"name": "string", "question": "string?", "budget": "number", "unit": "string", "sections": "array"},
        "learned": {"settings": "object", "queries": "number", "ndcg_before": "number", "ndcg_after": "number",
                    "gain_low": "number", "gain_high": "number", "learned_at": "time", "ended_at": "time?",
                    "end_reason": "string?"},
        "change": {"memory": "id", "action": "string", "changed_at": "time", "role": "string", "before": "object",
                   "after": "object"},
        "evidence": {"memory": "id", "note": "id", "is_stated": "boolean"},
        "judged": {"query_id": "string", "query": "string", "stratum": "string", "judged_by": "string",
                   "judged_at": "time", "exclude": "ids", "useful": "ids", "useless": "ids"}
    }';
    fields CONSTANT jsonb := kinds -> (line ->> 'kind');
    wrong text;
BEGIN
    IF fields IS NULL OR line -> 'pgrecall' IS DISTINCT FROM '1' OR jsonb_typeof(line -> 'namespace') IS DISTINCT FROM 'string' THEN
        RAISE EXCEPTION '%: not a line of an export of format 1', subject
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Import it with the version of pgrecall that exported it, or a newer one.';
    END IF;
    -- An unknown key may be a text that somebody wrote.
    SELECT CASE WHEN fields ? k.key THEN k.key ELSE 'an unknown field' END INTO wrong
    FROM jsonb_object_keys(fields || (line - '{pgrecall,kind,namespace}'::text[])) k (key)
    CROSS JOIN LATERAL (SELECT rtrim(fields ->> k.key, '?') AS type, line -> k.key AS value) f
    WHERE CASE
        WHEN f.type IS NULL THEN true
        WHEN COALESCE(f.value, 'null') = 'null' THEN fields ->> k.key NOT LIKE '%?'
        WHEN f.type = 'id' THEN NOT _pgrecall.is_id(f.value::text)
        WHEN f.type = 'ids' THEN jsonb_typeof(f.value) <> 'array' OR jsonb_array_length(f.value) > 10000 OR EXISTS (
            SELECT FROM jsonb_path_query(f.value, 'strict $[*]') i (value) WHERE NOT _pgrecall.is_id(i.value::text)
        )
        WHEN f.type = 'time' THEN NOT (jsonb_typeof(f.value) = 'string' AND _pgrecall.is_time(f.value #>> '{}')
                                       AND f.value #>> '{}' ~ '^\d{4}-')
        ELSE jsonb_typeof(f.value) <> f.type
    END
    LIMIT 1;
    -- A change has the old and the new value of each field.
    IF wrong IS NULL AND line ->> 'kind' = 'change' AND EXISTS (
        SELECT FROM jsonb_object_keys((line -> 'before') || (line -> 'after')) k (key)
        WHERE NOT _pgrecall.history_fields(NULL::pgrecall.memories) ? k.key
           OR NOT (line -> 'before' ? k.key AND line -> 'after' ? k.key)
    ) THEN
        wrong := 'before or after';
    ELSIF wrong IS NULL AND line ->> 'kind' = 'learned' AND EXISTS (
        SELECT FROM jsonb_each_text(line -> 'settings') s
        WHERE NOT EXISTS (SELECT FROM pgrecall.learnable_settings l WHERE l.name = s.key AND s.value = ANY (l.tried))
    ) THEN
        wrong := 'settings';
    END IF;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION '%: % is not what an export writes', subject, wrong
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Correct the field or leave the line out.';
    END IF;
END
$function$;
