-- Returns the range of a day of the week: the most recent, the last before today, this week's or the next, relative to the
-- anchor.
--
-- which  NULL: the most recent, today included;  last: the most recent before today;  next: the first after today
--        this: the day of this week, which begins on Monday
CREATE OR REPLACE FUNCTION _pgrecall.weekday_range(which text, weekday integer, anchor timestamptz, zone text)
RETURNS tstzrange
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    distance CONSTANT integer := weekday - date_part('isodow', anchor AT TIME ZONE zone)::integer;
BEGIN
    RETURN _pgrecall.unit_range(
        'day',
        CASE
            WHEN which = 'this' THEN distance
            WHEN which = 'next' THEN CASE WHEN distance > 0 THEN distance ELSE distance + 7 END
            WHEN distance > 0 OR (distance = 0 AND which IS NOT NULL) THEN distance - 7
            ELSE distance
        END,
        anchor, zone
    );
END
$function$;
