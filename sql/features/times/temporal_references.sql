-- Extracts the times that a text mentions, relative to the anchor: position in the text and period. Only bounded periods,
-- at most 20.
--
-- Times are read in UTC, so the same memory gets the same references in every session. A month or day without a year is
-- the one nearest to the anchor, because texts mention the future as often as the past.
--
-- content  only the first 20,000 characters are read
-- anchor   when the text was said; outside the years 1 to 9998 no time is read
-- span     characters, counted from 0: content[lower:upper] in Python
CREATE OR REPLACE FUNCTION _pgrecall.temporal_references(content text, anchor timestamptz)
RETURNS TABLE (span int4range, period tstzrange)
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 2
SET search_path FROM CURRENT SET standard_conforming_strings = on
AS $function$
DECLARE
    most CONSTANT integer := 20;
    pattern CONSTANT text := _pgrecall.date_pattern();
    seen CONSTANT text := left(content, 20000);
    between_them text[];
    stretch text;
    number integer := 0;
    place integer := 0;
    given integer := 0;
BEGIN
    -- Relative to a distant anchor, a time may be outside PostgreSQL's range.
    IF anchor NOT BETWEEN '0001-01-01 00:00+00' AND '9999-01-01 00:00+00' THEN
        RETURN;
    ELSIF seen !~* _pgrecall.date_hint() OR seen !~* pattern THEN
        RETURN;
    END IF;
    between_them := regexp_split_to_array(seen, pattern, 'i');
    FOR stretch IN SELECT m[1] FROM regexp_matches(seen, pattern, 'gi') m LOOP
        number := number + 1;
        place := place + length(between_them[number]);
        period := _pgrecall.timeframe_range(
            stretch,
            CASE
                WHEN stretch ~* ('\m' || _pgrecall.month_pattern() || '\M') AND stretch !~* '^(last|next)|\d{4}'
                    THEN anchor + interval '182 days'
                ELSE anchor
            END,
            'UTC'
        );
        span := int4range(place, place + length(stretch));
        place := upper(span);
        IF lower(period) IS NOT NULL AND upper(period) IS NOT NULL THEN
            RETURN NEXT;
            given := given + 1;
            EXIT WHEN given = most;
        END IF;
    END LOOP;
END
$function$;
