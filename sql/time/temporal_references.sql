-- The times that a text speaks of: where in the text, and the period. Bounded periods only, at most 20.
--
-- Read in UTC, so that the same memory has the same references whoever stores it. A month or day without a year is the
-- one nearest to the anchor: a text speaks of what is to come as often as of what was.
--
-- content  of a longer text the first 20,000 characters are looked at
-- anchor   when it was said; beyond the years 1 to 9998 no time is read
-- span     characters, counted from 0: content[lower:upper] in Python
CREATE OR REPLACE FUNCTION _pgrecall.temporal_references(content text, anchor timestamptz)
RETURNS TABLE (span int4range, period tstzrange)
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 2
SET search_path FROM CURRENT
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
    -- What is said of times in relation to one far off may lie where PostgreSQL has none.
    IF anchor NOT BETWEEN '0001-01-01 00:00+00' AND '9999-01-01 00:00+00' THEN
        RETURN;
    ELSIF seen !~* _pgrecall.date_hint() OR seen !~* pattern THEN
        RETURN;
    END IF;
    between_them := regexp_split_to_array(seen, pattern, 'i');
    FOR stretch IN SELECT m[1] FROM regexp_matches(seen, pattern, 'gi') m LOOP
        number := number + 1;
        place := place + length(between_them[number]);
        period := pgrecall.english_timeframe(
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

COMMENT ON FUNCTION _pgrecall.temporal_references IS
    'The times that a text speaks of, seen from the anchor: where in the text, and the period.';
