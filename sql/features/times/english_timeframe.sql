-- Parses an English time phrase into a half-open range, for parse_timeframe(), which documents the supported phrases; NULL
-- if it cannot be parsed.
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
    phrase text;
    opener text;
    parts text[];
    first tstzrange;
    last tstzrange;
    ends timestamptz;
    found tstzrange;
BEGIN
    IF zone IS NOT NULL THEN
        PERFORM _pgrecall.check_zone(zone);
    END IF;
    IF text IS NULL OR anchor IS NULL OR anchor NOT BETWEEN '0002-01-01 00:00 UTC' AND '9990-01-01 00:00 UTC' THEN
        RETURN NULL;
    END IF;
    phrase := btrim(left(text, 200), E' \t\n"?!');
    -- An apostrophe before two digits leaves out the century.
    phrase := regexp_replace(phrase, E'^([A-Za-z]+\\.?) [''\u2018\u2019](\\d\\d)$', '\1 20\2');
    -- Turn commas and line breaks into spaces, dashes into hyphens; drop quotes and brackets.
    phrase := translate(lower(phrase), E',;\t\n\r\u00a0\u2013\u2014\u2212"''\u2018\u2019\u201c\u201d?!()[]', '      ---');
    phrase := array_to_string(
        array_remove(array_remove(array_remove(string_to_array(replace(phrase || ' ', '. ', ' '), ' '), ''), 'the'), 'of'), ' '
    );
    phrase := replace(replace(replace(phrase, 'a couple', 'couple'), 'a few', 'few'), 'a dozen', 'dozen');
    -- Day and month in either order, where only one reading is a date.
    phrase := regexp_replace(phrase, '\m(1[3-9]|2\d|3[01])[/-](0?[1-9]|1[0-2])[/-](\d{4})\M', '\3-\2-\1', 'g');
    phrase := regexp_replace(phrase, '\m(0?[1-9]|1[0-2])[/-](1[3-9]|2\d|3[01])[/-](\d{4})\M', '\3-\1-\2', 'g');
    phrase := regexp_replace(phrase, '\m0?([1-9]|1[0-2])[/-]0?\1[/-](\d{4})\M', '\2-\1-\1', 'g');
    phrase := regexp_replace(phrase, '\m(\d{4})-(\d)-', '\1-0\2-', 'g');
    phrase := regexp_replace(phrase, '(\m\d{4}-\d\d)-(\d)\M', '\1-0\2', 'g');
    phrase := regexp_replace(phrase, '^((?:19|20)\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])$', '\1-\2-\3');
    phrase := regexp_replace(phrase, '^(week|month|quarter|year|weekend) before last$', '2 \1s ago');
    phrase := regexp_replace(phrase, '^this past ', 'last ');
    phrase := regexp_replace(phrase, '^(?:past |last )?(\d+) ?h(?:rs?)?$', 'last \1 hours');
    phrase := regexp_replace(phrase, '^(?:last |this )?(?:christmas|xmas)(?: day)?( \d{4})?$', 'december 25\1');
    -- "May 1-5", "1-5 May 2026"
    phrase := regexp_replace(phrase, '^([a-z]{3,9}\.?) (\d\d?) ?(?:-|to) ?(\d\d?)( \d{4})?$', '\1 \2\4 to \1 \3\4');
    phrase := regexp_replace(phrase, '^(\d\d?) ?(?:-|to) ?(\d\d?) ([a-z]{3,9}\.?)( \d{4})?$', '\3 \1\4 to \3 \2\4');
    phrase := replace(replace(phrase, 'up to ', 'until '), 'prior to ', 'before ');
    phrase := replace(replace(replace(replace(phrase, ' until ', ' to '), ' till ', ' to '), ' through ', ' to '), ' - ', ' to ');
    opener := split_part(phrase, ' ', 1);
    IF opener IN ('before', 'after', 'until', 'till', 'by', 'since') AND strpos(phrase, ' to ') = 0 THEN
        parts := ARRAY[substr(phrase, length(opener) + 2)];
    ELSIF opener = 'from' AND phrase ~ ' (on|onward|onwards)$' THEN
        opener := 'since';
        parts := ARRAY[regexp_replace(substr(phrase, 6), ' \w+$', '')];
    ELSIF opener = 'between' THEN
        parts := string_to_array(substr(phrase, 9), ' and ');
    ELSIF strpos(phrase, ' ') = 0 AND length(phrase) - length(replace(phrase, '/', '')) = 1 THEN
        parts := string_to_array(phrase, '/');
    ELSE
        parts := string_to_array(CASE WHEN opener = 'since' THEN substr(phrase, 7) ELSE phrase END, ' to ');
    END IF;

    last := _pgrecall.phrase_range(parts[cardinality(parts)], anchor, home);
    -- The end of a range is included. A time of day has no length of its own: its range is only its precision.
    ends := CASE WHEN upper(last) - lower(last) < interval '1 hour' THEN lower(last) ELSE upper(last) END;
    IF cardinality(parts) = 2 THEN
        first := _pgrecall.phrase_range(parts[1], anchor, home);
        -- "March to May 2024", "Friday to Monday": use the last beginning before the end.
        IF (parts[1] !~ '\d{4}' AND parts[2] ~ '\d{4}') OR lower(first) >= ends THEN
            first := _pgrecall.phrase_range(parts[1], lower(last), home);
        END IF;
        found := CASE WHEN lower(first) < ends THEN tstzrange(lower(first), ends) END;
    ELSIF cardinality(parts) = 1 THEN
        found := CASE
            WHEN last IS NULL THEN NULL
            WHEN opener = 'before' THEN tstzrange(NULL, lower(last))
            WHEN opener = 'after' THEN tstzrange(upper(last), NULL)
            WHEN opener = 'since' THEN tstzrange(lower(last), NULL)
            WHEN opener IN ('until', 'till', 'by') THEN tstzrange(NULL, ends)
            WHEN opener <> 'between' THEN last
        END;
    END IF;
    -- A client cannot represent such a range.
    IF lower(found) < '0001-01-02 00:00 UTC' OR upper(found) > '9999-12-30 00:00 UTC' THEN
        RETURN NULL;
    END IF;
    RETURN found;
END
$function$;

ALTER FUNCTION pgrecall.english_timeframe OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.english_timeframe TO pgrecall_reader;
