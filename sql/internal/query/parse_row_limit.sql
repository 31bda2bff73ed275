-- How many rows a caller wants at most, as it was given; NULL: all there are.
--
-- Errors  22023 a negative number
CREATE OR REPLACE FUNCTION _pgrecall.parse_row_limit(wanted integer)
RETURNS integer
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
BEGIN
    IF wanted < 0 THEN
        RAISE EXCEPTION 'there cannot be % rows', wanted
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass 0 or more, or NULL for all.';
    END IF;
    RETURN wanted;
END
$function$;

COMMENT ON FUNCTION _pgrecall.parse_row_limit IS 'Refuses a negative number of rows.';
