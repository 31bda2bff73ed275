-- Returns the range of a day or some months without a year: the most recent, this year's or the next, relative to the anchor.
--
-- which  last: the most recent one that has begun, like NULL; for seasons and quarters, that has ended
--        this: the current one, else this year's;  next: the first that begins later
-- day    NULL: whole months, as many as months says
CREATE OR REPLACE FUNCTION _pgrecall.recurring_range(
    which text, month integer, day integer, months integer, anchor timestamptz, zone text
)
RETURNS tstzrange
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    year CONSTANT integer := date_part('year', anchor AT TIME ZONE zone)::integer;
    found tstzrange;
BEGIN
    IF which = 'this' THEN
        found := _pgrecall.dated_range(year - 1, month, day, months, zone);  -- a winter may have begun last year
        RETURN CASE WHEN upper(found) > anchor THEN found ELSE _pgrecall.dated_range(year, month, day, months, zone) END;
    END IF;
    FOR back IN 0 .. 8 LOOP  -- two 29ths of February may be eight years apart
        found := _pgrecall.dated_range(
            CASE WHEN which = 'next' THEN year + back ELSE year - back END, month, day, months, zone
        );
        EXIT WHEN CASE
            WHEN which = 'next' THEN lower(found) > anchor
            WHEN which IN ('last', 'past') AND months > 1 THEN upper(found) <= anchor
            ELSE lower(found) <= anchor
        END;
        found := NULL;
    END LOOP;
    RETURN found;
END
$function$;
