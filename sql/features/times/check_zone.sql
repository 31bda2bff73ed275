-- Raises an error if the server does not know a time zone.
--
-- Accepts names and abbreviations but no POSIX specifications, whose sign is reversed. Before PostgreSQL 16 it reads
-- the list of all zones, about 10 ms. Call it for zones given by a caller, not for the session's own.
--
-- Errors  22023 unknown zone
CREATE OR REPLACE FUNCTION _pgrecall.check_zone(zone text)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    is_known boolean := zone ~ '^[A-Za-z][A-Za-z0-9_+/-]*$' AND length(zone) <= 64;
BEGIN
    IF is_known AND zone NOT IN ('UTC', current_setting('TimeZone')) THEN
        IF current_setting('server_version_num')::integer >= 160000 THEN
            is_known := pg_input_is_valid('2000-01-01 00:00 AD ' || zone, 'timestamptz');
        ELSE
            is_known := EXISTS (SELECT FROM pg_timezone_names n WHERE lower(n.name) = lower(zone))
                        OR EXISTS (SELECT FROM pg_timezone_abbrevs a WHERE a.abbrev = upper(zone));
        END IF;
    END IF;
    IF NOT is_known THEN
        RAISE EXCEPTION 'there is no time zone "%"', left(zone, 64)
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Use a name such as Europe/Berlin; SELECT name FROM pg_timezone_names lists them.';
    END IF;
END
$function$;
