-- A stretch of a zone's local time as a range of moments; NULL where it is empty.
--
-- A day is 23 or 25 hours long where the clocks change, and a day that a zone left out is empty.
CREATE OR REPLACE FUNCTION _pgrecall.local_range(begins timestamp, ends timestamp, zone text)
RETURNS tstzrange
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN begins AT TIME ZONE zone < ends AT TIME ZONE zone
        THEN tstzrange(begins AT TIME ZONE zone, ends AT TIME ZONE zone)
END;

COMMENT ON FUNCTION _pgrecall.local_range IS 'A stretch of a zone''s local time as a range of moments; NULL where it is empty.';
