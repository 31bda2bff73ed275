-- Returns a row limit; raises an error if it is negative. NULL: no limit.
--
-- Errors  22023 a negative number
CREATE OR REPLACE FUNCTION _pgrecall.parse_row_limit(wanted integer)
RETURNS integer
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
BEGIN
    IF wanted < 0 THEN
        RAISE EXCEPTION 'the row limit % is negative', wanted
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass 0 or more, or NULL for all.';
    END IF;
    RETURN wanted;
END
$function$;
