-- Returns the English words for those that the templates of time_phrases() take from a query.
CREATE OR REPLACE FUNCTION _pgrecall.translated_time_words()
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '{
    "woche": "week", "monat": "month", "jahr": "year", "wochenende": "weekend", "tag": "day",
    "montag": "monday", "dienstag": "tuesday", "mittwoch": "wednesday", "donnerstag": "thursday", "freitag": "friday",
    "samstag": "saturday", "sonnabend": "saturday", "sonntag": "sunday",
    "einem": "1", "einer": "1", "zwei": "2", "drei": "3", "vier": "4", "fünf": "5", "sechs": "6", "sieben": "7", "acht": "8",
    "neun": "9", "zehn": "10",
    "januar": "january", "februar": "february", "märz": "march", "mai": "may", "juni": "june", "juli": "july",
    "oktober": "october", "dezember": "december",
    "semana": "week", "mes": "month", "año": "year", "día": "day", "una": "1", "un": "1", "dos": "2",
    "tres": "3", "cuatro": "4", "cinco": "5", "seis": "6",
    "semaine": "week", "mois": "month", "année": "year", "an": "year", "week-end": "weekend", "jour": "day", "une": "1",
    "deux": "2", "trois": "3", "quatre": "4", "cinq": "5", "six": "6"
}'::jsonb;
