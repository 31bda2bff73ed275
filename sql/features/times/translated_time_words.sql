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
    "mese": "month", "mesi": "month", "settimana": "week", "settimane": "week", "anno": "year", "anni": "year", "giorno": "day",
    "giorni": "day", "due": "2", "tre": "3", "quattro": "4", "cinque": "5", "sei": "6", "estate": "summer", "il": "", "lo": "", "l": "",
    "mês": "month", "ano": "year", "dia": "day", "uma": "1", "um": "1", "dois": "2", "duas": "2", "três": "3", "quatro": "4",
    "segunda-feira": "monday", "terça-feira": "tuesday", "quarta-feira": "wednesday", "quinta-feira": "thursday",
    "sexta-feira": "friday", "hoje": "today", "oggi": "today", "vandaag": "today", "amanhã": "tomorrow", "domani": "tomorrow",
    "maand": "month", "maanden": "month", "jaar": "year", "weken": "week", "dag": "day", "dagen": "day", "zomer": "summer",
    "een": "1", "één": "1", "twee": "2", "drie": "3", "vier": "4", "vijf": "5", "zes": "6", "vorig": "last",
    "afgelopen": "last", "verleden": "last", "deze": "this", "dit": "this", "volgende": "next", "volgend": "next", "sinds": "since",
    "неделе": "week", "неделю": "week", "недели": "week", "недель": "week", "месяце": "month", "месяц": "month", "месяца": "month",
    "месяцев": "month", "году": "year", "год": "year", "года": "year", "лет": "year", "выходные": "weekend", "день": "day",
    "дня": "day", "дней": "day", "один": "1", "одну": "1", "два": "2", "две": "2", "три": "3", "четыре": "4", "пять": "5",
    "шесть": "6",
    "周一": "monday", "周二": "tuesday", "周三": "wednesday", "周四": "thursday", "周五": "friday", "周六": "saturday", "周日": "sunday", "周天": "sunday",
    "月曜": "monday", "火曜": "tuesday", "水曜": "wednesday", "木曜": "thursday", "金曜": "friday", "土曜": "saturday", "日曜": "sunday",
    "一": "1", "二": "2", "两": "2", "三": "3", "四": "4", "五": "5", "六": "6",
    "天": "day", "日": "day", "周": "week", "週間": "week", "星期": "week", "月": "month", "年": "year", "今天": "today", "今日": "today",
    "الأسبوع": "week", "الاسبوع": "week", "الشهر": "month", "السنة": "year", "العام": "year", "اليوم": "today",
    "الأحد": "sunday", "الاحد": "sunday", "الاثنين": "monday", "الإثنين": "monday", "الثلاثاء": "tuesday", "الأربعاء": "wednesday",
    "الاربعاء": "wednesday", "الخميس": "thursday", "الجمعة": "friday", "السبت": "saturday", "يوم": "",
    "понедельника": "monday", "вторника": "tuesday", "среды": "wednesday", "четверга": "thursday", "пятницы": "friday",
    "субботы": "saturday", "воскресенья": "sunday"
}'::jsonb;
