-- Raises the error about a setting's value.
--
-- Errors  22023 always
CREATE OR REPLACE FUNCTION pgrecall.refuse_setting(name text, value text)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    definition record;
BEGIN
    SELECT d.* INTO definition FROM pgrecall.setting_definitions d WHERE d.name = refuse_setting.name;
    RAISE EXCEPTION 'pgrecall.% cannot be "%"', refuse_setting.name, value
        USING ERRCODE = 'invalid_parameter_value',
              HINT = format(
                  'It takes %s. Correct it with SET or pgrecall.set_setting(), or RESET it.',
                  CASE
                      WHEN definition.choices IS NOT NULL THEN 'one of ' || array_to_string(definition.choices, ', ')
                      ELSE format('a %s between %s and %s', CASE WHEN definition.is_integer THEN 'whole number' ELSE 'number' END,
                                  definition.minimum, definition.maximum)
                  END
              );
END
$function$;

COMMENT ON FUNCTION pgrecall.refuse_setting IS 'Raises the error about a setting''s value, naming its range.';
