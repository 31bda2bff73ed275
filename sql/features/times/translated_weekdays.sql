-- Returns a regular expression for the weekdays of a language, without a group, for time_phrases().
CREATE OR REPLACE FUNCTION _pgrecall.translated_weekdays(language text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '(?:' || CASE language
    WHEN 'de' THEN '(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch|sonnabend'
    WHEN 'es' THEN 'lunes|martes|miércoles|jueves|viernes|sábado|domingo'
    WHEN 'fr' THEN 'lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche'
    WHEN 'it' THEN 'lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica'
    WHEN 'nl' THEN 'maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag|zondag'
    WHEN 'ru' THEN 'понедельник|вторник|среду|четверг|пятницу|субботу|воскресенье'
    WHEN 'pl' THEN 'poniedziałek|wtorek|środę|czwartek|piątek|sobotę|niedzielę'
    WHEN 'ar' THEN 'الأحد|الاحد|الاثنين|الإثنين|الثلاثاء|الأربعاء|الاربعاء|الخميس|الجمعة|السبت'
END || ')';
