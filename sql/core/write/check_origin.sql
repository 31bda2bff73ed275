-- Checks that an origin is one that there is; NULL is.
--
-- subject  how the message names what has it, such as 'memory 3'
--
-- Errors  22023
CREATE OR REPLACE FUNCTION _pgrecall.check_origin(origin text, subject text)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
BEGIN
    IF NOT _pgrecall.is_origin(origin) THEN
        -- It could be any text, so the message does not quote it.
        RAISE EXCEPTION '%: origin is none that there is', subject
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = format('It is one of %s.', array_to_string(enum_range(NULL::pgrecall.memory_origin), ', '));
    END IF;
END
$function$;
