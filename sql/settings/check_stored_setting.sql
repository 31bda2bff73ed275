-- Trigger on settings that refuses what cannot be stored: the table's CHECK.
--
-- A trigger, since what a setting accepts is replaceable code, which no constraint may depend on.
CREATE OR REPLACE FUNCTION _pgrecall.check_stored_setting()
RETURNS trigger
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $function$
BEGIN
    -- The table's own refusal prints the row.
    IF octet_length(NEW.name) > 1024 OR octet_length(NEW.value) > 65536 OR COALESCE(NEW.value, '') = '' THEN
        RAISE EXCEPTION 'a setting has a name of at most 1024 bytes and a value of 1 to 65536'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'pgrecall.set_setting() with NULL goes back to the default.';
    ELSIF NEW.name LIKE 'profile:%' THEN
        PERFORM _pgrecall.check_settings(NEW.value::jsonb);
        IF NEW.value::jsonb ? 'profile' THEN
            RAISE EXCEPTION 'a profile cannot name another profile'
                USING ERRCODE = 'invalid_parameter_value', HINT = 'Write its settings out.';
        END IF;
    ELSIF pgrecall.is_valid_setting(NEW.name, NEW.value) IS NOT TRUE
          OR NEW.name = 'profile' AND NOT EXISTS (SELECT FROM pgrecall.profiles p WHERE p.name = NEW.value) THEN
        PERFORM _pgrecall.raise_invalid_setting(NEW.name, NEW.value);
    END IF;
    RETURN NEW;
END
$function$;

COMMENT ON FUNCTION _pgrecall.check_stored_setting IS 'Trigger: refuses stored settings and profiles that cannot be.';

CREATE OR REPLACE TRIGGER check_stored_setting
    BEFORE INSERT OR UPDATE ON pgrecall.settings
    FOR EACH ROW EXECUTE FUNCTION _pgrecall.check_stored_setting();
