-- Returns the English words of time expressions with the kind and values of each.
--
-- stretch  a recurring part of the year: first month and number of months. Seasons are whole months, those of the
--          northern hemisphere; winter begins in December
-- weekday  1 is Monday; weekdays are only counted: two Fridays ago
-- day      days from today
-- part     of a day: begin and end, counted from midnight; a night ends in the next day
-- number   its value; a couple is 2, a few are 3, several are 5
-- which    last, past, this or next
-- third    the first, second or last third of a period (third_range)
-- around   the unit that holds a day: the week of 3 March; timeframe_range() joins the two words
CREATE OR REPLACE FUNCTION _pgrecall.time_words()
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '{
    "january": ["stretch", 1, 1], "february": ["stretch", 2, 1], "march": ["stretch", 3, 1], "april": ["stretch", 4, 1],
    "may": ["stretch", 5, 1], "june": ["stretch", 6, 1], "july": ["stretch", 7, 1], "august": ["stretch", 8, 1],
    "september": ["stretch", 9, 1], "october": ["stretch", 10, 1], "november": ["stretch", 11, 1],
    "december": ["stretch", 12, 1],
    "jan": ["stretch", 1, 1], "feb": ["stretch", 2, 1], "mar": ["stretch", 3, 1], "apr": ["stretch", 4, 1],
    "jun": ["stretch", 6, 1], "jul": ["stretch", 7, 1], "aug": ["stretch", 8, 1], "sep": ["stretch", 9, 1],
    "sept": ["stretch", 9, 1], "oct": ["stretch", 10, 1], "nov": ["stretch", 11, 1], "dec": ["stretch", 12, 1],
    "q1": ["stretch", 1, 3], "q2": ["stretch", 4, 3], "q3": ["stretch", 7, 3], "q4": ["stretch", 10, 3],
    "spring": ["stretch", 3, 3], "summer": ["stretch", 6, 3], "autumn": ["stretch", 9, 3], "fall": ["stretch", 9, 3],
    "winter": ["stretch", 12, 3], "h1": ["stretch", 1, 6], "h2": ["stretch", 7, 6],

    "early": ["third", 1], "beginning": ["third", 1], "start": ["third", 1], "mid": ["third", 2], "middle": ["third", 2],
    "late": ["third", 3], "end": ["third", 3],
    "week-of": ["around", "week"], "weekend-of": ["around", "weekend"],

    "monday": ["weekday", 1], "tuesday": ["weekday", 2], "wednesday": ["weekday", 3], "thursday": ["weekday", 4],
    "friday": ["weekday", 5], "saturday": ["weekday", 6], "sunday": ["weekday", 7],
    "mon": ["weekday", 1], "tue": ["weekday", 2], "tues": ["weekday", 2], "wed": ["weekday", 3], "thu": ["weekday", 4],
    "thur": ["weekday", 4], "thurs": ["weekday", 4], "fri": ["weekday", 5], "sat": ["weekday", 6], "sun": ["weekday", 7],

    "mondays": ["weekdays", 1], "tuesdays": ["weekdays", 2], "wednesdays": ["weekdays", 3], "thursdays": ["weekdays", 4],
    "fridays": ["weekdays", 5], "saturdays": ["weekdays", 6], "sundays": ["weekdays", 7],

    "now": ["now"], "today": ["day", 0], "yesterday": ["day", -1], "tomorrow": ["day", 1],
    "tonight": ["tonight"], "morning": ["part", "6 h", "12 h"], "afternoon": ["part", "12 h", "18 h"],
    "evening": ["part", "18 h", "24 h"], "night": ["part", "18 h", "30 h"],

    "second": ["unit", "second"], "seconds": ["unit", "second"], "minute": ["unit", "minute"],
    "minutes": ["unit", "minute"], "min": ["unit", "minute"], "mins": ["unit", "minute"], "hour": ["unit", "hour"],
    "hours": ["unit", "hour"], "hr": ["unit", "hour"], "hrs": ["unit", "hour"], "day": ["unit", "day"],
    "days": ["unit", "day"], "h": ["unit", "hour"], "d": ["unit", "day"], "w": ["unit", "week"], "wk": ["unit", "week"],
    "wks": ["unit", "week"], "kw": ["unit", "week"], "week": ["unit", "week"], "weeks": ["unit", "week"], "weekend": ["unit", "weekend"],
    "weekends": ["unit", "weekend"], "month": ["unit", "month"], "months": ["unit", "month"],
    "quarter": ["unit", "quarter"], "quarters": ["unit", "quarter"], "year": ["unit", "year"],
    "years": ["unit", "year"], "yr": ["unit", "year"], "yrs": ["unit", "year"], "decade": ["unit", "decade"], "decades": ["unit", "decade"],

    "a": ["number", 1], "an": ["number", 1], "one": ["number", 1], "two": ["number", 2], "three": ["number", 3],
    "four": ["number", 4], "five": ["number", 5], "six": ["number", 6], "seven": ["number", 7], "eight": ["number", 8],
    "nine": ["number", 9], "ten": ["number", 10], "eleven": ["number", 11], "twelve": ["number", 12],
    "couple": ["number", 2], "few": ["number", 3], "several": ["number", 5], "dozen": ["number", 12],

    "last": ["which", "last"], "previous": ["which", "last"], "past": ["which", "past"], "this": ["which", "this"],
    "current": ["which", "this"], "next": ["which", "next"], "coming": ["which", "next"],

    "ago": ["ago"], "before": ["before"], "after": ["after"], "in": ["in"],
    "on": ["lead"], "during": ["lead"], "from": ["lead"], "within": ["lead"], "at": ["lead"], "over": ["lead"],
    "earlier": ["lead"], "later": ["lead"], "calendar": ["lead"]
}'::jsonb;
