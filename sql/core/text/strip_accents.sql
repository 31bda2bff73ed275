-- Removes the accents of Latin letters: é becomes e, ß ss, ł l.
--
-- Needs no extension. Letters of other scripts do not change: й stays й. Also accepts a tsvector as text.
CREATE OR REPLACE FUNCTION _pgrecall.strip_accents(content text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
SET search_path FROM CURRENT SET standard_conforming_strings = on
AS $function$
DECLARE
    plain text := content;
BEGIN
    IF octet_length(plain) = length(plain) OR plain !~ '[\u00c0-\u024f\u0300-\u036f\u1e00-\u1eff]' THEN
        RETURN plain;
    END IF;
    plain := regexp_replace(normalize(plain, NFD), '(?<=[A-Za-z])[\u0300-\u036f]+', '', 'g');
    IF plain ~ '[^\u0001-\u02ff]' THEN
        plain := normalize(plain, NFC);
    END IF;
    -- Letters that NFD does not decompose.
    IF plain ~ '[\u00c6-\u0167]' THEN
        plain := translate(plain, 'øØłŁđĐðÐħĦıŧŦŋŊ', 'oOlLdDdDhHitTnN');
        plain := replace(replace(plain, 'ß', 'ss'), 'ẞ', 'SS');
        plain := replace(replace(replace(replace(plain, 'æ', 'ae'), 'Æ', 'AE'), 'œ', 'oe'), 'Œ', 'OE');
        plain := replace(replace(plain, 'þ', 'th'), 'Þ', 'TH');
    END IF;
    RETURN plain;
END
$function$;
