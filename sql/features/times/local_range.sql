-- Converts a local time span of a zone to a range. NULL if it is empty.
--
-- A day has 23 or 25 hours when the clocks change; a day that a zone skipped is empty.
CREATE OR REPLACE FUNCTION _pgrecall.local_range(begins timestamp, ends timestamp, zone text)
RETURNS tstzrange
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN begins AT TIME ZONE zone < ends AT TIME ZONE zone
        THEN tstzrange(begins AT TIME ZONE zone, ends AT TIME ZONE zone)
END;
