-- Returns the morning, afternoon, evening or night of a day. NULL if the range is not one day.
--
-- A night ends in the morning of the next day.
CREATE OR REPLACE FUNCTION _pgrecall.day_part_range(part text, day tstzrange, zone text)
RETURNS tstzrange
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE
    WHEN upper(day) - lower(day) BETWEEN interval '20 hours' AND interval '28 hours' THEN _pgrecall.local_range(
        (lower(day) AT TIME ZONE zone) + (_pgrecall.time_words() -> part ->> 1)::interval,
        (lower(day) AT TIME ZONE zone) + (_pgrecall.time_words() -> part ->> 2)::interval,
        zone
    )
END;
