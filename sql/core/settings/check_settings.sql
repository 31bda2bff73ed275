-- Validates the settings of a call or a profile.
--
-- settings  {"name": value, …}
--
-- Errors  22023 no such setting, an invalid value, a setting that can only be stored, or not a JSON object
CREATE OR REPLACE FUNCTION _pgrecall.check_settings(settings jsonb)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    item record;
BEGIN
    IF jsonb_typeof(settings) <> 'object' THEN
        RAISE EXCEPTION 'settings must be a JSON object, not %', jsonb_typeof(settings)
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Write {"rrf_k": 60}.';
    END IF;
    FOR item IN
        SELECT g.key, g.value, d.name, d.is_stored_only
        FROM jsonb_each_text(settings) g
        LEFT JOIN pgrecall.setting_definitions d ON d.name = g.key
        ORDER BY g.key
    LOOP
        IF item.name IS NULL THEN
            PERFORM _pgrecall.raise_unknown_setting(item.key);
        ELSIF item.is_stored_only OR item.name IN ('namespace', 'namespaces') THEN
            RAISE EXCEPTION '% cannot be set for one call', item.key
                USING ERRCODE = 'invalid_parameter_value',
                      HINT = CASE WHEN item.is_stored_only THEN 'Use pgrecall.set_setting().'
                                  ELSE format('Pass the argument %s.', item.name) END;
        ELSIF NOT pgrecall.is_valid_setting(item.name, item.value) THEN
            PERFORM _pgrecall.raise_invalid_setting(item.name, item.value, is_given => true);
        END IF;
    END LOOP;
END
$function$;
