-- Returns the range of a day or of whole months in a given year. NULL if the calendar has no such day.
--
-- day  NULL: whole months, as many as months says
CREATE OR REPLACE FUNCTION _pgrecall.dated_range(year integer, month integer, day integer, months integer, zone text)
RETURNS tstzrange
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    begins date;
BEGIN
    IF year NOT BETWEEN 1 AND 9998 OR month NOT BETWEEN 1 AND 12 OR day NOT BETWEEN 1 AND 31 THEN
        RETURN NULL;
    END IF;
    begins := make_date(year, month, 1);
    IF day IS NULL THEN
        RETURN _pgrecall.local_range(begins, begins + make_interval(months => months), zone);
    ELSIF date_part('month', begins + (day - 1)) <> month THEN
        RETURN NULL;
    END IF;
    RETURN _pgrecall.local_range(begins + (day - 1), begins + day, zone);
END
$function$;
