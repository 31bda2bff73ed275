-- Parses a time phrase such as "last week", "in March 2024" or "since Monday", in many languages, into a half-open range;
-- an error if it is not understood. Days are those of the zone (NULL: the session's), relative to the anchor. dateparser
-- handles phrases that the SQL parser does not.
--
-- The parser of features/times/parse_timeframe.sql runs first. dateparser returns a moment and its precision; the result is the
-- minute, day, week, month or year that contains it. It tries only LANGUAGES: with all its languages, the first text in
-- none of them would take seconds. Without the module they are errors, with one warning per session.
--
-- Errors  22023 a phrase that is not understood, unknown zone
CREATE OR REPLACE FUNCTION public.parse_timeframe(text text, anchor timestamptz DEFAULT now(), zone text DEFAULT NULL)
RETURNS tstzrange
LANGUAGE plpython3u STABLE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $function$
import re
import sys
from datetime import datetime, timedelta

LOCAL = """
SELECT pgrecall.english_timeframe($1, $2, $3)::text AS period, COALESCE($3, current_setting('TimeZone')) AS zone,
       CASE WHEN $2 BETWEEN '0002-01-01 00:00 UTC' AND '9990-01-01 00:00 UTC' THEN
           to_char($2 AT TIME ZONE COALESCE($3, current_setting('TimeZone')), 'YYYY-MM-DD"T"HH24:MI:SS.US')
       END AS today
"""
RANGE = "SELECT tstzrange($1::timestamp AT TIME ZONE $3, $2::timestamp AT TIME ZONE $3)::text AS period"
MODULE = "dateparser.date"
# The SQL parser has read the numbers that are one date. dateparser reads 3/4 as a day, and versions as times.
NUMBERS = r"(?<![\d./-])\d{1,2}[/-]\d{1,2}(?!\d)|^\W*[A-Za-z]?[\d.]+\W*$"
LANGUAGES = ["en", "de", "fr", "es", "it", "pt", "nl", "sv", "pl", "ru", "tr", "ar", "zh", "ja", "ko"]


def prepared(query, *types):
    if query not in SD:
        SD[query] = plpy.prepare(query, types)
    return SD[query]


def has_module():
    if MODULE not in sys.modules:
        if SD.get("missing"):
            return False
        found = plpy.execute(prepared("SELECT * FROM pgrecall.python_module($1)", "text"), [MODULE])[0]
        if found["problem"] is not None:
            SD["missing"] = True
            plpy.warning("times are read in a few languages only: " + found["problem"], hint=found["hint"])
            return False
    return True


def refuse():
    """Say that a phrase is not understood: NULL would search all times."""
    plpy.error(
        "the time phrase is not understood",
        hint="Write 'last week', 'in March 2026', 'since Monday' or '2026-05-01/2026-05-31', or that in your language.",
        sqlstate="22023",
    )


def around(moment, unit):
    """The minute, day, week, month or year that holds a moment."""
    if unit == "time":
        begins = moment.replace(second=0, microsecond=0)
        return begins, begins + timedelta(minutes=1)
    begins = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    if unit == "week":
        begins -= timedelta(days=begins.weekday())
        return begins, begins + timedelta(days=7)
    if unit == "month":
        begins = begins.replace(day=1)
        return begins, (begins + timedelta(days=31)).replace(day=1)
    if unit == "year":
        begins = begins.replace(month=1, day=1)
        return begins, begins.replace(year=begins.year + 1)
    return begins, begins + timedelta(days=1)


known = plpy.execute(prepared(LOCAL, "text", "timestamptz", "text"), [text, anchor, zone])[0]
if known["period"] is not None or text is None or anchor is None:
    return known["period"]
if known["today"] is None or re.search(NUMBERS, text) or not has_module():
    refuse()
data = sys.modules[MODULE].DateDataParser(
    languages=LANGUAGES,
    settings={
        "PREFER_DATES_FROM": "past",
        "PREFER_DAY_OF_MONTH": "first",
        "PREFER_MONTH_OF_YEAR": "first",
        "RETURN_TIME_AS_PERIOD": True,
        "RELATIVE_BASE": datetime.fromisoformat(known["today"]),
    },
).get_date_data(text[:200])
if data.date_obj is None:
    refuse()
try:
    begins, ends = around(data.date_obj, data.period)
except (OverflowError, ValueError):
    refuse()
if begins.tzinfo is not None:
    return "[%s,%s)" % (begins.isoformat(), ends.isoformat())
return plpy.execute(
    prepared(RANGE, "text", "text", "text"), [begins.isoformat(), ends.isoformat(), known["zone"]]
)[0]["period"]
$function$;

REVOKE ALL ON FUNCTION public.parse_timeframe FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder;
GRANT EXECUTE ON FUNCTION public.parse_timeframe TO pgrecall_reader;
