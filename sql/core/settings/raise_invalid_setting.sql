-- Raises the error for a value that a setting does not accept.
--
-- Errors  22023 always
CREATE OR REPLACE FUNCTION _pgrecall.raise_invalid_setting(name text, value text)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
BEGIN
    RAISE EXCEPTION 'pgrecall.% cannot be "%"', name, left(value, 100)
        USING ERRCODE = 'invalid_parameter_value',
              HINT = format('It accepts %s. Correct the argument, or use SET, RESET or pgrecall.set_setting().',
                             pgrecall.describe_accepted(name));
END
$function$;
