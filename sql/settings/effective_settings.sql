-- Resolves and validates all settings of a recall, in one read.
--
-- arguments  settings of this call by name; NULL values are ignored
-- learned    settings that the namespace has learned; NULL: none
--
-- Errors  22023 no such setting, a value that its setting does not accept, or an unknown profile
CREATE OR REPLACE FUNCTION _pgrecall.effective_settings(arguments jsonb DEFAULT NULL, learned jsonb DEFAULT NULL)
RETURNS pgrecall.recall_settings
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    call_settings jsonb := NULLIF(jsonb_strip_nulls(arguments), '{}');
    resolved jsonb;
    invalid_name text;
BEGIN
    IF call_settings IS NOT NULL THEN
        PERFORM _pgrecall.check_settings(call_settings);
    END IF;
    -- An empty text is not a valid interval. Only parameters are checked: defaults and stored values are valid.
    SELECT jsonb_object_agg(r.name, NULLIF(r.value, '')),
           min(r.name) FILTER (WHERE r.source = 'parameter' AND NOT pgrecall.is_valid_setting(r.name, r.value))
    INTO resolved, invalid_name
    FROM pgrecall.resolved_settings(call_settings, learned) r;

    IF invalid_name IS NULL AND NOT EXISTS (SELECT FROM pgrecall.profiles p WHERE p.name = resolved ->> 'profile') THEN
        invalid_name := 'profile';
    END IF;
    IF invalid_name IS NOT NULL THEN
        PERFORM _pgrecall.raise_invalid_setting(invalid_name, resolved ->> invalid_name);
    END IF;
    RETURN jsonb_populate_record(NULL::pgrecall.recall_settings, resolved);
END
$function$;

COMMENT ON FUNCTION _pgrecall.effective_settings IS
    'Resolves and validates all settings of a recall: argument, parameter, profile, learned, stored, default.';
