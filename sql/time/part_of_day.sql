-- The morning, afternoon, evening or night of a day; NULL where what is given is no day.
--
-- A night ends in the morning of the next day.
CREATE OR REPLACE FUNCTION pgrecall.part_of_day(part text, day tstzrange, zone text)
RETURNS tstzrange
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE
    WHEN upper(day) - lower(day) BETWEEN interval '20 hours' AND interval '28 hours' THEN pgrecall.local_range(
        (lower(day) AT TIME ZONE zone) + (pgrecall.time_words() -> part ->> 1)::interval,
        (lower(day) AT TIME ZONE zone) + (pgrecall.time_words() -> part ->> 2)::interval,
        zone
    )
END;

COMMENT ON FUNCTION pgrecall.part_of_day IS
    'The morning, afternoon, evening or night of a day; NULL where what is given is no day.';
