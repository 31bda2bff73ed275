-- Writes times of day in words as value_terms() reads them: "9 in the evening" becomes "9:00 pm", "15 Uhr 30" "15:30".
--
-- An evening may be several hours: "2 evenings", Russian "3 дня" (three days) and 12 at night, which is no noon, stay as they are.
--
-- content  in small letters, without accents
CREATE OR REPLACE FUNCTION _pgrecall.spell_hours(content text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
SET search_path FROM CURRENT SET standard_conforming_strings = on
AS $function$
DECLARE
    plain text := content;
    parts CONSTANT text[] := '{
        %morning%,%afternoon%,%evening%,%night%,%tarde%,%noche%,%manana%,%madrugada%,%noite%,%manha%,%matin%,%soir%,%midi%,%sera%,
        %pomeriggio%,%mattin%,%abends%,%mittags%,%morgens%,%avonds%,%middags%,%ochtends%,%вечера%,%утра%,%дня%,%ночи%,%вечора%,%ранку%,
        %wieczor%,%rano%,%poludniu%}'::text[];
    hour CONSTANT text := '\m(0?[1-9]|1[01])(?:(?:[:.]| ?h ?| (?:uhr|heures?|horas?|ore|uur|час\w*|годин\w*|godz\w*) )([0-5]\d)(?!\d))?'
        '(?: ?(?:h|uhr|heures?|horas?|uur|o[''’]clock|час\w*|годин\w*)\M)? ';
BEGIN
    IF plain LIKE ANY ('{% y media%,% y cuarto%,% e meia%,% e mezza%,% e un quarto%,% et demi%,% et quart%}'::text[]) THEN
        plain := regexp_replace(plain, '\m(\d{1,2}) (?:y media|e meia|e mezza|et demie?)\M', '\1:30', 'g');
        plain := regexp_replace(plain, '\m(\d{1,2}) (?:y cuarto|e un quarto|et quart)\M', '\1:15', 'g');
    END IF;
    IF translate(plain, '123456789', '000000000') LIKE ANY ('{%0 h 00%,%0 uhr 00%,%0 heure 00%,%0 heures 00%,%0 uur 00%}'::text[]) THEN
        plain := regexp_replace(
            plain,
            '\m([01]?\d|2[0-3]) (?:h|uhr|heures?|uur) ([0-5]\d)(?![\d.,:/%]| ?(?:m|min|mins|minut\w*|uhr|h)\M)', '\1:\2 ', 'g'
        );
    END IF;
    IF plain LIKE ANY (parts)
       AND plain ~ ('\d[^\n]{1,20}(?:' || translate(array_to_string(parts, '|'), '%', '') || ')') THEN
        plain := regexp_replace(
            plain,
            hour || '(?:in the (?:afternoon|evening)|at night|de la (?:tarde|noche)|da (?:tarde|noite)|del pomeriggio|di sera'
            '|du soir|de l[''’ ]apres-midi|abends|nachmittags|[''’]?s (?:avonds|middags)|вечера|вечора'
            '|(?<=час\w{0,2} )дня|wieczorem|po poludniu)\M',
            '\1:\2 pm ', 'g'
        );
        plain := regexp_replace(
            plain,
            hour || '(?:in the morning|de la (?:manana|madrugada)|da (?:manha|madrugada)|del mattino|di mattina|du matin|morgens|vormittags'
            '|[''’]?s (?:ochtends|morgens)|утра|ранку|(?<=час\w{0,2} )ночи|rano)\M',
            '\1:\2 am ', 'g'
        );
        plain := regexp_replace(plain, '(\d): ([ap]m )', '\1:00 \2', 'g');
    END IF;
    RETURN plain;
END
$function$;
