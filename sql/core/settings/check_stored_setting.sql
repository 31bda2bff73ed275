-- Trigger on settings: validates stored settings and profiles.
--
-- A trigger instead of a CHECK constraint, because a constraint must not depend on replaceable code.
CREATE OR REPLACE FUNCTION _pgrecall.check_stored_setting()
RETURNS trigger
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $function$
BEGIN
    -- Checked here because the table's constraint error would print the row.
    IF octet_length(NEW.name) > 1024 OR octet_length(NEW.value) > 65536 OR COALESCE(NEW.value, '') = '' THEN
        RAISE EXCEPTION 'a setting has a name of at most 1024 bytes and a value of 1 to 65536 bytes'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'pgrecall.set_setting() with NULL restores the default.';
    ELSIF NEW.name LIKE 'profile:%' THEN
        PERFORM _pgrecall.check_settings(NEW.value::jsonb);
        IF NEW.value::jsonb ? 'profile' THEN
            RAISE EXCEPTION 'a profile cannot contain the setting profile'
                USING ERRCODE = 'invalid_parameter_value', HINT = 'List the other profile''s settings instead.';
        END IF;
    ELSIF pgrecall.is_valid_setting(NEW.name, NEW.value) IS NOT TRUE
          OR NEW.name = 'profile' AND NOT EXISTS (SELECT FROM pgrecall.profiles p WHERE p.name = NEW.value) THEN
        PERFORM _pgrecall.raise_invalid_setting(NEW.name, NEW.value);
    END IF;
    RETURN NEW;
END
$function$;

CREATE OR REPLACE TRIGGER check_stored_setting
    BEFORE INSERT OR UPDATE ON pgrecall.settings
    FOR EACH ROW EXECUTE FUNCTION _pgrecall.check_stored_setting();
