-- Stores a profile for the whole database: settings that belong together, under one name, for recall(…, profile => name);
-- NULL removes them.
--
-- settings  {"name": value, …}; NULL removes the profile and restores a built-in one of that name
--
-- Errors  22023 no such setting, an invalid name, or a value that its setting does not accept
CREATE OR REPLACE FUNCTION pgrecall.set_profile(name text, settings jsonb)
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
SET debug_print_plan = off
AS $function$
BEGIN
    IF name IS NULL OR name !~ '^[a-z0-9_-]{1,60}$' THEN
        RAISE EXCEPTION 'a profile cannot be named "%"', left(name, 80)
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Use 1 to 60 lower-case letters, digits, - and _.';
    ELSIF settings IS NULL THEN
        DELETE FROM pgrecall.settings s WHERE s.name = 'profile:' || set_profile.name;
    ELSE
        INSERT INTO pgrecall.settings AS s (name, value) VALUES ('profile:' || set_profile.name, set_profile.settings::text)
        ON CONFLICT ON CONSTRAINT settings_pkey DO UPDATE SET value = excluded.value, updated_at = now();
    END IF;
END
$function$;

ALTER FUNCTION pgrecall.set_profile OWNER TO pgrecall_engine;
