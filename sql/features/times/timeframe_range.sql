-- Parses an English time phrase, with the ends of a range and words such as "since"; parse_timeframe() documents the supported
-- phrases. NULL if it cannot be parsed.
--
-- One phrase without these is phrase_range()'s. Here are the rules that need a pattern; the rarer ones are behind a test for a word.
CREATE OR REPLACE FUNCTION _pgrecall.timeframe_range(text text, anchor timestamptz, zone text)
RETURNS tstzrange
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT SET standard_conforming_strings = on
AS $function$
DECLARE
    ordinals CONSTANT text[] := '{first,second,third,fourth}'::text[];
    phrase text;
    opener text;
    parts text[];
    first tstzrange;
    last tstzrange;
    ends timestamptz;
    found tstzrange;
BEGIN
    IF anchor IS NULL OR anchor NOT BETWEEN '0002-01-01 00:00 UTC' AND '9990-01-01 00:00 UTC' THEN
        RETURN NULL;
    END IF;
    phrase := btrim(left(text, 200), E' \t\n"?!');
    -- An apostrophe before two digits leaves out the century.
    phrase := regexp_replace(phrase, E'([A-Za-z.]|[QqHh][1-4]) ?[''\u2018\u2019](\\d\\d)$', '\1 20\2');
    -- Turn commas and line breaks into spaces, dashes into hyphens; drop quotes and brackets.
    phrase := translate(lower(phrase), E',;\t\n\r\u00a0\u2013\u2014\u2212"''\u2018\u2019\u201c\u201d?!()[]', '      ---');
    phrase := _pgrecall.whole_dates(phrase);
    IF phrase LIKE '%-%' THEN
        phrase := regexp_replace(phrase, '\m(early|mid|late)-', '\1 ', 'g');
        phrase := regexp_replace(phrase, '\m(\d\d?)-([a-z]{3,9})-(\d{4})\M', '\1 \2 \3', 'g');  -- 16-Dec-2024
        phrase := regexp_replace(phrase, '\m([a-z]{3,9})-(\d{4})\M', '\1 \2', 'g');
        phrase := regexp_replace(phrase, '^(\d{4}|[a-z]{3,9})-(\d{4}|[a-z]{3,9})\M', '\1 to \2');  -- 2019-2021, March-May 2024
    END IF;
    IF phrase LIKE '%week%' THEN
        phrase := regexp_replace(phrase, '\m(week|weekend) (?:of|beginning|starting) ', '\1-of ', 'g');
    END IF;
    IF phrase ~ '[qh][1-4]|quarter|half' THEN
        phrase := regexp_replace(phrase, '\m([qh][1-4])[-/]?(\d{4})\M', '\1 \2', 'g');
        phrase := regexp_replace(phrase, '\m(\d{4})[-/]?([qh][1-4])\M', '\2 \1', 'g');
        FOR place IN 1 .. 4 LOOP
            phrase := replace(phrase, ordinals[place] || ' quarter', 'q' || place);
            phrase := replace(phrase, ordinals[place] || ' half', 'h' || place);
        END LOOP;
    END IF;
    phrase := array_to_string(
        array_remove(array_remove(array_remove(string_to_array(replace(phrase || ' ', '. ', ' '), ' '), ''), 'the'), 'of'), ' '
    );
    phrase := replace(replace(replace(phrase, 'a couple', 'couple'), 'a few', 'few'), 'a dozen', 'dozen');
    phrase := replace(replace(phrase, 'a fortnight', 'fortnight'), 'fortnight', '2 weeks');
    phrase := regexp_replace(phrase, '^((?:19|20)\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])$', '\1-\2-\3');
    phrase := regexp_replace(phrase, '^(week|month|quarter|year|weekend) before last$', '2 \1s ago');
    phrase := regexp_replace(phrase, '^this past ', 'last ');
    phrase := regexp_replace(phrase, '^(?:past |last )?(\d+) ?(hrs?|[hdw])$', 'last \1 \2');
    phrase := regexp_replace(phrase, '^(?:last |this )?(?:christmas|xmas)(?: day)?( \d{4})?$', 'december 25\1');
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
    ELSIF strpos(phrase, ' ') = 0 AND length(phrase) - length(replace(phrase, '/', '')) = 1 AND phrase !~ '^\d{1,2}/' THEN
        parts := string_to_array(phrase, '/');
    ELSE
        parts := string_to_array(CASE WHEN opener = 'since' THEN substr(phrase, 7) ELSE phrase END, ' to ');
    END IF;

    last := _pgrecall.phrase_range(parts[cardinality(parts)], anchor, zone);
    -- The end of a range is included. A time of day has no length of its own: its range is only its precision.
    ends := CASE WHEN upper(last) - lower(last) < interval '1 hour' THEN lower(last) ELSE upper(last) END;
    IF cardinality(parts) = 2 THEN
        first := _pgrecall.phrase_range(parts[1], anchor, zone);
        -- "March to May 2024", "Friday to Monday": use the last beginning before the end.
        IF (parts[1] !~ '\d{4}' AND parts[2] ~ '\d{4}') OR lower(first) >= ends THEN
            first := _pgrecall.phrase_range(parts[1], lower(last), zone);
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
