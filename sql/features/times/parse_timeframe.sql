-- Parses a time phrase such as "last week", "in March 2024" or "since Monday" into a half-open range; an error if it is not
-- understood. Days are those of the zone (NULL: the session's), relative to the anchor.
--
--   moments and days    now, today, yesterday, the day before yesterday, last night, this morning, 3 days ago, in 2 weeks
--   units               last week, this month, next year (the calendar's; weeks begin on Monday), last weekend,
--                       the week of 3 March, week 12 (ISO 8601, the most recent), week 12 of 2024, 2024-W12
--   rolling             the last 3 days, past 24 hours, the past week, next 2 months: up to the anchor, or from it on
--   weekdays            Monday (the most recent, today if it is one), last Monday, this Monday, Monday last week
--   without year         March, March 3rd, summer, Q3: the most recent that has begun; last summer: that has ended
--   dates               3 March 2024, March 2024, March last year, Q3 2024, 2024-Q3, the third quarter of 2024, H1 2024,
--                       winter 2023 (from December on), 2024, the 1990s, Nov '24, last Christmas
--   in numbers          2024-03-05, 20240305, 2024-03, 03/2024, 2024-03-05T10:00+02:00; with points the day is first: 5.3.2024,
--                       5.3.24, 5.3.; 25/12/2024 and 12/25/2024, 25/12; but 3/5/2024 is two days: an error
--   parts               early, mid or late March, mid-2024, the beginning of Q3, the end of last month: the first, second or
--                       last third. Of a month from the 1st, 11th and 21st, of a year from January, May and September
--   ranges              2024-03-01/2024-03-31, March to May 2024, 2019-2021, from Monday to Friday, between A and B: the end is
--                       included as a whole; a time of day ends at that moment
--   open                before A, after A, since A, until A, by A, from A onwards
--
--   other languages     the simple ones of these in thirteen: Arabic, Chinese, Dutch, French, German, Italian, Japanese, Korean,
--                       Polish, Portuguese, Russian, Spanish and Thai: im März 2024, la semana pasada, sabato scorso, в марте, 上周六,
--                       다음 주 월요일; names of months and weekdays in more; digits of any script, 令和8年, พ.ศ. 2569
--
-- A phrase is as precise as its unit: "two weeks ago" is a calendar week, "an hour ago" an hour of the clock. Days are
-- those of the zone, 23 or 25 hours long where the clocks change. A couple is 2, a few are 3, several are 5. Case,
-- articles, commas and "in" or "during" are ignored; any other unknown word is an error: NULL would search all
-- times. Only the first 200 characters are parsed. With `pgrecall migrate --with-plpython`, dateparser handles other
-- phrases; it knows more forms and many languages.
--
-- anchor  what "today" is
-- zone    a time zone's name; NULL: the session's
--
-- Errors  22023 a phrase that is not understood, unknown zone
CREATE OR REPLACE FUNCTION public.parse_timeframe(text text, anchor timestamptz DEFAULT now(), zone text DEFAULT NULL)
RETURNS tstzrange
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    found CONSTANT tstzrange := pgrecall.english_timeframe(text, anchor, zone);
BEGIN
    IF found IS NULL AND text IS NOT NULL AND anchor IS NOT NULL THEN
        RAISE EXCEPTION 'the time phrase is not understood'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Write ''last week'', ''early March 2026'', ''since Monday'', ''the week of 3 March'', ''Q3 2026'', '
                         '''16.12.2026'', ''2026-05-01/2026-05-31'' or ''between March and May 2026''; 3/5/2026 may be two days.';
    END IF;
    RETURN found;
END
$function$;

REVOKE ALL ON FUNCTION public.parse_timeframe FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder;
GRANT EXECUTE ON FUNCTION public.parse_timeframe TO pgrecall_reader;
