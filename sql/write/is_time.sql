-- Tells whether PostgreSQL can read a text as a point in time. NULL returns NULL.
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

COMMENT ON FUNCTION _pgrecall.is_time IS 'Tells whether PostgreSQL can read a text as a point in time.';
