-- Returns a calendar week by its ISO number, which a week has by its Thursday. NULL if the year has no such week.
--
-- year  NULL: the most recent that has begun
CREATE OR REPLACE FUNCTION _pgrecall.week_range(year integer, number integer, anchor timestamptz, zone text)
RETURNS tstzrange
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    newest CONSTANT integer := COALESCE(year, date_part('isoyear', anchor AT TIME ZONE zone)::integer);
    monday timestamp;
    found tstzrange;
BEGIN
    IF newest NOT BETWEEN 10 AND 9990 OR number NOT BETWEEN 1 AND 53 THEN
        RETURN NULL;
    END IF;
    FOR back IN 0 .. CASE WHEN year IS NULL THEN 8 ELSE 0 END LOOP  -- two weeks 53 may be seven years apart
        monday := date_trunc('week', make_date(newest - back, 1, 4)::timestamp) + make_interval(weeks => number - 1);
        found := CASE
            WHEN date_part('isoyear', monday) = newest - back THEN _pgrecall.local_range(monday, monday + interval '1 week', zone)
        END;
        EXIT WHEN found IS NOT NULL AND (year IS NOT NULL OR lower(found) <= anchor);
        found := NULL;
    END LOOP;
    RETURN found;
END
$function$;
