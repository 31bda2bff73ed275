-- Resolves and validates all settings of a recall (argument, parameter, profile, learned, stored): those that differ from
-- the defaults, put over the defaults.
--
-- The order is that of resolved_settings(), which also tells each value's source.
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
    stored jsonb;
    session_settings jsonb;
    profile_name text;
    profile jsonb;
    invalid_name text;
BEGIN
    IF call_settings IS NOT NULL THEN
        PERFORM _pgrecall.check_settings(call_settings);
    END IF;
    SELECT jsonb_object_agg(s.name, s.value) INTO stored FROM pgrecall.settings s WHERE s.name NOT LIKE 'profile:%';
    -- SET LOCAL leaves an empty text behind.
    SELECT jsonb_object_agg(p.name, p.value) INTO session_settings
    FROM (
        SELECT n.name, current_setting('pgrecall.' || n.name, true) AS value
        FROM unnest(_pgrecall.session_setting_names()) n (name)
        OFFSET 0  -- so that each is read once
    ) p
    WHERE p.value <> '';
    profile_name := COALESCE(call_settings ->> 'profile', session_settings ->> 'profile', stored ->> 'profile', 'default');

    -- Only what a session has SET is unchecked: arguments are checked above, stored values when they are stored.
    IF session_settings IS NOT NULL THEN
        SELECT min(s.key) INTO invalid_name
        FROM jsonb_each_text(session_settings) s
        WHERE NOT COALESCE(call_settings ? s.key, false) AND NOT pgrecall.is_valid_setting(s.key, s.value);
        IF invalid_name IS NOT NULL THEN
            PERFORM _pgrecall.raise_invalid_setting(invalid_name, session_settings ->> invalid_name);
        END IF;
    END IF;
    SELECT p.settings INTO profile FROM pgrecall.profiles p WHERE p.name = profile_name;
    IF NOT FOUND THEN
        PERFORM _pgrecall.raise_invalid_setting('profile', profile_name, COALESCE(call_settings ? 'profile', false));
    END IF;
    RETURN jsonb_populate_record(_pgrecall.default_settings(), (
        -- An empty text is not a valid interval.
        SELECT jsonb_object_agg(c.key, NULLIF(c.value, ''))
        FROM jsonb_each_text(
            COALESCE(stored, '{}') || COALESCE(learned, '{}') || jsonb_strip_nulls(profile)
            || COALESCE(session_settings, '{}') || COALESCE(call_settings, '{}')
        ) c
    ));
END
$function$;
