-- Returns the range of some units before the anchor (a negative number) or after it. NULL for weekends.
CREATE OR REPLACE FUNCTION _pgrecall.rolling_range(unit text, places integer, anchor timestamptz, zone text)
RETURNS tstzrange
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    shift CONSTANT interval := places * _pgrecall.unit_length(unit);
    moment CONSTANT timestamptz := CASE
        WHEN unit IN ('second', 'minute', 'hour') THEN anchor + shift
        ELSE ((anchor AT TIME ZONE zone) + shift) AT TIME ZONE zone
    END;
BEGIN
    IF unit = 'weekend' OR moment = anchor THEN
        RETURN NULL;
    END IF;
    RETURN tstzrange(least(moment, anchor), greatest(moment, anchor));
END
$function$;
