-- The settings of a recall, resolved and validated, in one read.
--
-- arguments  settings of this call by name; NULL values are none
--
-- Errors  22023 no such setting, a value that its setting does not accept, an unknown profile
CREATE OR REPLACE FUNCTION _pgrecall.effective_settings(arguments jsonb DEFAULT NULL)
RETURNS pgrecall.recall_settings
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    given jsonb := NULLIF(jsonb_strip_nulls(arguments), '{}');
    resolved jsonb;
    refused text;
BEGIN
    IF given IS NOT NULL THEN
        PERFORM _pgrecall.check_settings(given);
    END IF;
    -- An empty text is no interval, and what comes from here is known to be right: defaults, and what was stored.
    SELECT jsonb_object_agg(r.name, NULLIF(r.value, '')),
           min(r.name) FILTER (WHERE r.source = 'parameter' AND NOT pgrecall.is_valid_setting(r.name, r.value))
    INTO resolved, refused
    FROM pgrecall.resolved_settings(given) r;

    IF refused IS NULL AND NOT EXISTS (SELECT FROM pgrecall.profiles p WHERE p.name = resolved ->> 'profile') THEN
        refused := 'profile';
    END IF;
    IF refused IS NOT NULL THEN
        PERFORM _pgrecall.raise_invalid_setting(refused, resolved ->> refused);
    END IF;
    RETURN jsonb_populate_record(NULL::pgrecall.recall_settings, resolved);
END
$function$;

COMMENT ON FUNCTION _pgrecall.effective_settings IS
    'The settings of a recall in force, validated: argument, parameter, profile, stored, built-in default.';
