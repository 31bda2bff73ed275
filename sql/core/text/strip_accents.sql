-- Writes letters without accents and other marks that people leave out: é becomes e, ß ss, ł l, ά α, ё е, أ ا.
--
-- Needs no extension. Also accepts a tsvector as text.
--
-- Greek    without tonos and breathings; a final sigma is a sigma
-- Russian  ё is е, and stress marks go; й and ї stay
-- Hebrew   without points
-- Arabic   without vowel signs and tatweel; the forms of alef, yeh, kaf and heh are one each, as those of Persian and Urdu are
-- Hindi    without nukta; a nasal before a consonant is an anusvara, and so is a candrabindu
CREATE OR REPLACE FUNCTION _pgrecall.strip_accents(content text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
SET search_path FROM CURRENT SET standard_conforming_strings = on
AS $function$
DECLARE
    plain text := content;
    is_latin boolean;
BEGIN
    IF octet_length(plain) = length(plain)
       OR plain !~ '[\u00c0-\u024f\u0300-\u0345\u0386-\u03ce\u0401\u0451\u0591-\u05c7\u0610-\u06ed\u0900-\u0963\u1e00-\u1fff]'
    THEN
        RETURN plain;
    END IF;
    IF plain ~ '[\u00c0-\u024f\u0300-\u0345\u0386-\u03ce\u1e00-\u1fff]' THEN
        plain := regexp_replace(normalize(plain, NFD), '(?<=[A-Za-z\u00c6-\u0167\u0391-\u03c9])[\u0300-\u0345\u0350-\u036f]+', '', 'g');
        IF octet_length(plain) = length(plain) THEN
            RETURN plain;
        END IF;
        is_latin := plain !~ '[^\u0001-\u02ff]';
        IF NOT is_latin THEN
            plain := normalize(plain, NFC);
        END IF;
        -- Letters that NFD does not decompose.
        IF plain ~ '[\u00c6-\u0167\u1e9e]' THEN
            plain := translate(plain, 'øØłŁđĐðÐħĦıŧŦŋŊ', 'oOlLdDdDhHitTnN');
            plain := replace(replace(plain, 'ß', 'ss'), 'ẞ', 'SS');
            plain := replace(replace(replace(replace(plain, 'æ', 'ae'), 'Æ', 'AE'), 'œ', 'oe'), 'Œ', 'OE');
            plain := replace(replace(plain, 'þ', 'th'), 'Þ', 'TH');
        END IF;
        IF is_latin THEN
            RETURN plain;
        END IF;
        plain := replace(plain, 'ς', 'σ');
    END IF;
    IF plain ~ '[\u0400-\u04ff]' THEN
        plain := translate(regexp_replace(plain, '(?<=[\u0400-\u04ff])[\u0300\u0301]', '', 'g'), 'ёЁ', 'еЕ');
    END IF;
    IF plain ~ '[\u0591-\u06ed]' THEN
        plain := regexp_replace(
            plain,
            '[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc'
            '\u06df-\u06e4\u06ea-\u06ed]+',
            '', 'g'
        );
        plain := translate(
            plain, E'\u05be\u0622\u0623\u0625\u0671\u0649\u06cc\u06d2\u06a9\u0629\u06c0\u06c1\u06c3',
            E' \u0627\u0627\u0627\u0627\u064a\u064a\u064a\u0643\u0647\u0647\u0647\u0647'
        );
    END IF;
    IF plain ~ '[\u0900-\u0963]' THEN
        plain := translate(normalize(plain, NFD), E'\u0901\u093c', E'\u0902');
        plain := regexp_replace(
            plain,
            '\u0919\u094d(?=[\u0915-\u0918])|\u091e\u094d(?=[\u091a-\u091d])|\u0923\u094d(?=[\u091f-\u0922])'
            '|\u0928\u094d(?=[\u0924-\u0927])|\u092e\u094d(?=[\u092a-\u092d])',
            E'\u0902', 'g'
        );
        plain := normalize(plain, NFC);
    END IF;
    RETURN plain;
END
$function$;
