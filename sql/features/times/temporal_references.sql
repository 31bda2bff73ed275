-- Extracts the times that a text mentions, relative to the anchor: position in the text and period. Only bounded periods,
-- at most 20.
--
-- Times are read in UTC, so the same memory gets the same references in every session. A month or day without a year is
-- the one nearest to the anchor, because texts mention the future as often as the past. In English and the languages of
-- asian_time_phrases(); of two that overlap the first or longer.
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
    seen CONSTANT text := _pgrecall.fold_digits(left(content, 20000));
    is_asian CONSTANT boolean := octet_length(seen) > length(seen) AND seen ~ _pgrecall.asian_hint();
    stretch text;
    pattern text;
    template text;
    phrase text;
    place integer;
    stop integer := 0;
    given integer := 0;
BEGIN
    -- Relative to a distant anchor, a time may be outside PostgreSQL's range.
    IF anchor NOT BETWEEN '0001-01-01 00:00+00' AND '9999-01-01 00:00+00' OR (NOT is_asian AND seen !~* _pgrecall.date_hint()) THEN
        RETURN;
    END IF;
    FOR place, stretch, pattern, template IN
        SELECT f.place, f.stretch, p.pattern, p.template
        FROM (
            SELECT _pgrecall.date_pattern() AS pattern, NULL AS template, 'i' AS flags
            WHERE NOT is_asian OR seen ~* _pgrecall.date_hint()
            UNION ALL
            SELECT _pgrecall.numeric_date_pattern(), NULL, 'i' WHERE seen ~ '\d[./-]\d\d?[./-]'
            UNION ALL
            -- In a text, today is a day: what a question must say beside it is left out.
            SELECT regexp_replace(p.pattern, '^\^.*\)\.\*', ''), p.template, ''
            FROM _pgrecall.asian_time_phrases() p
            WHERE is_asian AND ' ' || seen LIKE ANY (p.hints)
        ) p
        CROSS JOIN LATERAL _pgrecall.pattern_stretches(seen, p.pattern, p.flags) f
        ORDER BY f.place, length(f.stretch) DESC
    LOOP
        CONTINUE WHEN place < stop;
        stop := place + length(stretch);
        phrase := CASE
            WHEN template IS NULL THEN stretch
            ELSE _pgrecall.translated_words(
                regexp_replace(_pgrecall.common_dates(_pgrecall.read_numerals(lower(stretch))), pattern, template)
            )
        END;
        period := _pgrecall.timeframe_range(
            phrase,
            CASE
                WHEN phrase ~ '^\d{1,2}\.\d{1,2}$' THEN anchor + interval '182 days'
                WHEN phrase ~* ('\m' || _pgrecall.month_pattern() || '\M') AND phrase !~* '^(last|next)|(last|this|next) year|\d{4}'
                    THEN anchor + interval '182 days'
                ELSE anchor
            END,
            'UTC'
        );
        span := int4range(place, stop);
        IF lower(period) IS NOT NULL AND upper(period) IS NOT NULL THEN
            RETURN NEXT;
            given := given + 1;
            EXIT WHEN given = most;
        END IF;
    END LOOP;
END
$function$;
