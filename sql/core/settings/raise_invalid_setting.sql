-- Raises the error for a value that a setting does not accept.
--
-- is_given  whether the call gave it, as an argument or in settings; else a parameter of the session, or stored
--
-- Errors  22023 always
CREATE OR REPLACE FUNCTION _pgrecall.raise_invalid_setting(name text, value text, is_given boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
BEGIN
    RAISE EXCEPTION '% cannot be "%"', CASE WHEN NOT is_given THEN 'pgrecall.' ELSE '' END || name, left(value, 100)
        USING ERRCODE = 'invalid_parameter_value',
              HINT = format('It accepts %s. %s', pgrecall.describe_accepted(name),
                             CASE WHEN is_given THEN 'Correct the argument.' ELSE 'Use SET, RESET or pgrecall.set_setting().' END);
END
$function$;
