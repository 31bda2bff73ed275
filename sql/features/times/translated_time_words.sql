-- Returns the English words for those of time phrases in other languages; names of months and weekdays are month_names() and
-- weekday_names(), but for those that are left out there.
--
-- An empty word is left out.
CREATE OR REPLACE FUNCTION _pgrecall.translated_time_words()
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '{
    "woche": "week", "monat": "month", "jahr": "year", "wochenende": "weekend", "tag": "day", "quartal": "quarter",
    "letzte": "last", "letzten": "last", "letztes": "last", "letzter": "last", "vorige": "last", "vergangene": "last", "diese": "this",
    "nächste": "next", "im": "in", "am": "on", "vom": "from", "von": "from", "seit": "since", "bis": "until", "vor": "before",
    "nach": "after", "zwischen": "between", "und": "and", "noch": "", "der": "", "die": "", "das": "", "den": "", "dem": "",
    "anfang": "early", "mitte": "mid", "ende": "late", "heute": "today", "morgen": "tomorrow",
    "frühling": "spring", "frühjahr": "spring", "sommer": "summer", "herbst": "autumn",
    "einem": "1", "einer": "1", "zwei": "2", "drei": "3", "vier": "4", "fünf": "5", "sechs": "6", "sieben": "7", "acht": "8",
    "neun": "9", "zehn": "10",
    "semana": "week", "mes": "month", "año": "year", "día": "day", "una": "1", "un": "1", "dos": "2",
    "tres": "3", "cuatro": "4", "cinco": "5", "seis": "6", "en": "in", "el": "", "la": "", "los": "", "las": "", "de": "", "del": "",
    "desde": "since", "hasta": "until", "entre": "between", "y": "and", "hoy": "today", "mañana": "tomorrow",
    "principios": "early", "mediados": "mid", "finales": "late",
    "primavera": "spring", "verano": "summer", "otoño": "autumn", "invierno": "winter",
    "semaine": "week", "mois": "month", "année": "year", "an": "year", "week-end": "weekend", "jour": "day", "une": "1",
    "deux": "2", "trois": "3", "quatre": "4", "cinq": "5", "six": "6", "le": "", "les": "", "depuis": "since", "jusqu": "until",
    "au": "", "et": "and", "avant": "before", "après": "after", "aujourd": "today", "hui": "", "demain": "tomorrow", "hier": "yesterday",
    "début": "early", "fin": "late", "mars": "march", "printemps": "spring", "été": "summer", "automne": "autumn", "hiver": "winter",
    "в": "in", "с": "since", "до": "until", "между": "between", "и": "and", "сегодня": "today", "завтра": "tomorrow",
    "начале": "early", "середине": "mid", "конце": "late",
    "понедельника": "monday", "вторника": "tuesday", "среды": "wednesday", "четверга": "thursday", "пятницы": "friday",
    "субботы": "saturday", "воскресенья": "sunday"
}'::jsonb;
