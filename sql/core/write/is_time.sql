-- Tells whether a text is a point in time that every reader has: from 0001-01-02 to 9999-12-31 UTC: in the
-- years 1 to 9999 in every time zone. NULL returns NULL.
--
-- The constraints memories_times and those of other tables have the same bounds. A word such as yesterday is no point in time: who
-- hands the same text in again would mean another one.
CREATE OR REPLACE FUNCTION _pgrecall.is_time(value text)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path FROM CURRENT SET standard_conforming_strings = on
AS $function$
BEGIN
    RETURN value::timestamptz BETWEEN '0001-01-02 00:00:00+00' AND '9999-12-31 00:00:00+00'
           AND value !~* '\m(?:now|today|tomorrow|yesterday)\M';
EXCEPTION WHEN data_exception THEN
    RETURN false;
END
$function$;
