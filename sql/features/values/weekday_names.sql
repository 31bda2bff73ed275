-- Returns the names of the weekdays with their numbers, 1 for Monday, without accents, in nine languages, with abbreviations.
--
-- A language is added here; no code names a weekday. Abbreviations of two letters are left out: most are words as well.
CREATE OR REPLACE FUNCTION _pgrecall.weekday_names()
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '{
    "monday": 1, "tuesday": 2, "wednesday": 3, "thursday": 4, "friday": 5, "saturday": 6, "sunday": 7,
    "mon": 1, "tue": 2, "tues": 2, "wed": 3, "thu": 4, "thur": 4, "thurs": 4, "fri": 5, "sat": 6, "sun": 7,
    "montag": 1, "dienstag": 2, "mittwoch": 3, "donnerstag": 4, "freitag": 5, "samstag": 6, "sonnabend": 6, "sonntag": 7,
    "lundi": 1, "mardi": 2, "mercredi": 3, "jeudi": 4, "vendredi": 5, "samedi": 6, "dimanche": 7, "lun": 1, "jeu": 4, "ven": 5,
    "lunes": 1, "martes": 2, "miercoles": 3, "jueves": 4, "viernes": 5, "sabado": 6, "domingo": 7, "mie": 3, "jue": 4, "vie": 5,
    "lunedi": 1, "martedi": 2, "mercoledi": 3, "giovedi": 4, "venerdi": 5, "sabato": 6, "domenica": 7, "gio": 4, "sab": 6,
    "maandag": 1, "dinsdag": 2, "woensdag": 3, "donderdag": 4, "vrijdag": 5, "zaterdag": 6, "zondag": 7,
    "segunda-feira": 1, "terca-feira": 2, "quarta-feira": 3, "quinta-feira": 4, "sexta-feira": 5,
    "понедельник": 1, "вторник": 2, "среда": 3, "среду": 3, "четверг": 4, "пятница": 5, "пятницу": 5, "суббота": 6,
    "субботу": 6, "воскресенье": 7
}'::jsonb;
