-- Returns the range of an ISO 8601 date, month, week or time of day, as precise as it is written, or of a date in numbers. NULL
-- for anything else.
--
-- ISO 8601 are 2024-03, 2024-03-05, 2024-W10 and 2024-03-05T10:00, optionally with seconds, fractions and an offset; also 2024/3/5.
-- Of other dates the last number is the year, which may be missing: 16.12. is the most recent. With points the day is first. With
-- slashes or hyphens countries differ, so 3/5/2024 is none; of 16/12/2024 and 12/16/2024 only one reading is a date.
--
-- phrase  in lower case
CREATE OR REPLACE FUNCTION _pgrecall.iso_range(phrase text, anchor timestamptz, zone text)
RETURNS tstzrange
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT SET standard_conforming_strings = on
AS $function$
DECLARE
    part text[];
    clock integer[];
    found tstzrange;
    local timestamp;
    moment timestamptz;
    day integer;
    month integer;
BEGIN
    part := regexp_match(
        phrase,
        '^(\d{4})[-/](\d{1,2})(?:[-/](\d{1,2})(?:[t ](\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)? ?(z|utc|gmt|[+-]\d\d(?::?\d\d)?)?)?)?$'
    );
    IF part IS NULL THEN
        IF phrase ~ '^\d{4}-?w\d\d$' THEN
            RETURN _pgrecall.week_range(left(phrase, 4)::integer, right(phrase, 2)::integer, anchor, zone);
        ELSIF phrase ~ '^\d{1,2}[./]\d{4}$' THEN
            RETURN _pgrecall.dated_range(right(phrase, 4)::integer, rtrim(left(phrase, -4), './')::integer, NULL, 1, zone);
        END IF;
        part := regexp_match(phrase, '^(\d{1,2})([-./])(\d{1,2})(?:\2(\d{4}|\d\d))?\.?$');
        IF part IS NULL OR (part[2] = '-' AND part[4] IS NULL) THEN
            RETURN NULL;
        END IF;
        day := part[1]::integer;
        month := part[3]::integer;
        IF part[2] <> '.' AND month > 12 THEN
            day := part[3]::integer;
            month := part[1]::integer;
        ELSIF phrase = '24/7' OR (part[2] <> '.' AND day <= 12 AND day <> month) THEN
            RETURN NULL;
        END IF;
        RETURN CASE
            WHEN part[4] IS NULL THEN _pgrecall.recurring_range(NULL, month, day, 1, anchor, zone)
            ELSE _pgrecall.dated_range(part[4]::integer + CASE WHEN length(part[4]) = 2 THEN 2000 ELSE 0 END, month, day, 1, zone)
        END;
    END IF;
    found := _pgrecall.dated_range(part[1]::integer, part[2]::integer, part[3]::integer, 1, zone);
    clock := part[4:6];
    IF clock[1] IS NULL OR part[3] IS NULL OR part[2]::integer NOT BETWEEN 1 AND 12 THEN
        RETURN found;
    ELSIF _pgrecall.dated_range(part[1]::integer, part[2]::integer, part[3]::integer, 1, 'UTC') IS NULL
          OR clock[1] > 23 OR clock[2] > 59 OR clock[3] > 59 THEN
        RETURN NULL;
    END IF;
    local := make_timestamp(
        part[1]::integer, part[2]::integer, part[3]::integer, clock[1], clock[2], COALESCE(clock[3], 0)
    );
    moment := CASE
        WHEN part[7] IS NULL THEN local AT TIME ZONE zone
        WHEN part[7] ~ '[a-z]' THEN local AT TIME ZONE 'UTC'
        ELSE local AT TIME ZONE make_interval(
            mins => (left(part[7], 1) || '1')::integer
                    * (substr(part[7], 2, 2)::integer * 60 + COALESCE(NULLIF(right(replace(part[7], ':', ''), -3), ''), '0')::integer)
        )
    END;
    RETURN tstzrange(moment, moment + CASE WHEN clock[3] IS NULL THEN interval '1 minute' ELSE interval '1 second' END);
END
$function$;
