-- Validates the settings of a call or of a profile.
--
-- given  {"name": value, …}
--
-- Errors  22023 no such setting, a value it does not accept, a setting that is stored only, no JSON object
CREATE OR REPLACE FUNCTION _pgrecall.check_settings(given jsonb)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    item record;
BEGIN
    IF jsonb_typeof(given) <> 'object' THEN
        RAISE EXCEPTION 'settings are a JSON object, not %', jsonb_typeof(given)
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Write {"rrf_k": 60}.';
    END IF;
    FOR item IN
        SELECT g.key, g.value, d.name, d.is_stored_only
        FROM jsonb_each_text(given) g
        LEFT JOIN pgrecall.setting_definitions d ON d.name = g.key
        ORDER BY g.key
    LOOP
        IF item.name IS NULL THEN
            PERFORM _pgrecall.raise_unknown_setting(item.key);
        ELSIF item.is_stored_only OR item.name = 'namespace' THEN
            RAISE EXCEPTION '% is not a setting of one call', item.key
                USING ERRCODE = 'invalid_parameter_value',
                      HINT = CASE WHEN item.is_stored_only THEN 'Use pgrecall.set_setting().' ELSE 'Pass the argument namespace.' END;
        ELSIF NOT pgrecall.is_valid_setting(item.name, item.value) THEN
            PERFORM _pgrecall.raise_invalid_setting(item.name, item.value);
        END IF;
    END LOOP;
END
$function$;

COMMENT ON FUNCTION _pgrecall.check_settings IS 'Validates the settings of a call or of a profile.';
