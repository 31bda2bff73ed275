-- Converts a local time span of a zone to a range. NULL if it is empty.
--
-- A day has 23 or 25 hours when the clocks change; a day that a zone skipped is empty. Of a time that comes twice, AT TIME ZONE
-- takes the second; a span begins and ends with the first, which follows the moment before it.
CREATE OR REPLACE FUNCTION _pgrecall.local_range(begins timestamp, ends timestamp, zone text)
RETURNS tstzrange
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT CASE WHEN l.begins < l.ends THEN tstzrange(l.begins, l.ends) END
    FROM (
        SELECT least(begins AT TIME ZONE zone, (begins - interval '1 microsecond') AT TIME ZONE zone + interval '1 microsecond'),
               least(ends AT TIME ZONE zone, (ends - interval '1 microsecond') AT TIME ZONE zone + interval '1 microsecond')
    ) l (begins, ends)
);
