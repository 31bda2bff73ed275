-- Parses a time phrase into a half-open range, for parse_timeframe(), which documents the supported phrases; NULL if it cannot be
-- parsed. English first, then what time_phrases() and translated_time_words() make English.
--
-- anchor, zone  see parse_timeframe()
--
-- Errors  22023 unknown zone
CREATE OR REPLACE FUNCTION pgrecall.english_timeframe(text text, anchor timestamptz, zone text)
RETURNS tstzrange
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    home CONSTANT text := COALESCE(zone, current_setting('TimeZone'));
BEGIN
    IF zone IS NOT NULL THEN
        PERFORM _pgrecall.check_zone(zone);
    END IF;
    RETURN COALESCE(
        _pgrecall.timeframe_range(_pgrecall.fold_digits(text), anchor, home),
        _pgrecall.timeframe_range(_pgrecall.translated_phrase(left(text, 200), true), anchor, home)
    );
END
$function$;

ALTER FUNCTION pgrecall.english_timeframe OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.english_timeframe TO pgrecall_reader;
