-- Returns the calendar unit that contains the anchor, or one some places away: 0 is this week, -1 last week.
--
-- Weeks begin on Monday; a weekend is Saturday and Sunday. Days and longer units follow the zone's calendar, shorter
-- units the clock: an hour always has one hour.
CREATE OR REPLACE FUNCTION _pgrecall.unit_range(unit text, places integer, anchor timestamptz, zone text)
RETURNS tstzrange
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    length CONSTANT interval := _pgrecall.unit_length(unit);
    begins timestamp;
    moment timestamptz;
BEGIN
    IF unit IN ('second', 'minute', 'hour') THEN
        moment := date_trunc(unit, anchor + places * length, zone);
        RETURN tstzrange(moment, moment + length);
    END IF;
    begins := date_trunc(CASE WHEN unit = 'weekend' THEN 'week' ELSE unit END, anchor AT TIME ZONE zone) + places * length;
    RETURN _pgrecall.local_range(
        CASE WHEN unit = 'weekend' THEN begins + interval '5 days' ELSE begins END, begins + length, zone
    );
END
$function$;
