-- Returns the range of an ISO 8601 date, month or time of day, as precise as it is written. NULL for anything else.
--
-- Accepts 2024-03, 2024-03-05, 2024-03-05T10:00, optionally with seconds, fractions and an offset; also 2024/3/5 and
-- 5.3.2024. Rejects 3/5/2024, because its order of day and month differs between countries.
--
-- phrase  in lower case
CREATE OR REPLACE FUNCTION _pgrecall.iso_range(phrase text, zone text)
RETURNS tstzrange
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    part text[];
    clock integer[];
    found tstzrange;
    local timestamp;
    moment timestamptz;
BEGIN
    part := regexp_match(
        phrase,
        '^(\d{4})[-/](\d{1,2})(?:[-/](\d{1,2})(?:[t ](\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)? ?(z|utc|gmt|[+-]\d\d(?::?\d\d)?)?)?)?$'
    );
    IF part IS NULL THEN
        part := regexp_match(phrase, '^(\d{1,2})\.(\d{1,2})\.(\d{4})$');
        RETURN CASE
            WHEN part IS NOT NULL
                THEN _pgrecall.dated_range(part[3]::integer, part[2]::integer, part[1]::integer, 1, zone)
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
