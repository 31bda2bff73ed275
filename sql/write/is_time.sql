-- Whether a text is a point in time, as PostgreSQL reads it; NULL is none.
CREATE OR REPLACE FUNCTION _pgrecall.is_time(value text)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $function$
BEGIN
    RETURN value::timestamptz IS NOT NULL;
EXCEPTION WHEN data_exception THEN
    RETURN false;
END
$function$;

COMMENT ON FUNCTION _pgrecall.is_time IS 'Whether a text is a point in time, as PostgreSQL reads it.';
