-- Normalises the spelling of a text: NFKC, Latin digits, plain punctuation, no word longer than an index accepts.
--
-- Letters keep their accents. An ASCII text of less than 2 kB is returned unchanged. Runs of 255 or more letters and
-- digits are data, not words: ASCII runs are removed, others are cut, so that to_tsvector never raises its NOTICE about
-- long words. NFKC can make a text longer; the result is cut at 262,144 characters.
CREATE OR REPLACE FUNCTION _pgrecall.normalize_text(content text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
SET search_path FROM CURRENT SET standard_conforming_strings = on
AS $function$
DECLARE
    spelling text := content;
BEGIN
    IF octet_length(spelling) > length(spelling) THEN
        -- Any character except those that NFKC never changes.
        IF spelling ~ ('[^\u0001-\u009f\u00a1-\u00a7\u00a9\u00ab\u00ac\u00ae\u00b0\u00b1\u00b6\u00b7\u00bb\u00bf-\u0131'
                       '\u0134-\u013e\u0141-\u0148\u014a-\u017e\u0180-\u01c3\u01cd-\u01f0\u01f4-\u024f\u0388-\u03cf'
                       '\u0400-\u0482\u048a-\u052f\u2012-\u2016\u2018-\u2023\u2030-\u2032\u20a0-\u20a7\u20a9-\u20cf'
                       '\u3001-\u3029\u3041-\u3098\u30a0-\u30fe\u3400-\u9fff\uac00-\ud7a3]')
        THEN
            -- NFKC writes these signs as letters, which would be one word with their neighbour: №7, nº7, Acme™.
            IF translate(spelling, '№℠™º', '') <> spelling THEN
                spelling := regexp_replace(spelling, '[\u2116\u2120\u2122]|\u00ba(?=[0-9])', ' ', 'g');
            END IF;
            spelling := replace(normalize(spelling, NFKC), E'\u2010', '-');
            -- Remove zero-width characters, and combining marks that do not follow a letter.
            spelling := left(regexp_replace(
                spelling,
                '[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff]+'
                '|(?<![A-Za-z\u00aa-\U0010ffff])[\u0300-\u036f]+', '', 'g'
            ), 262144);
            spelling := _pgrecall.fold_digits(spelling);
        END IF;
        -- With locale C the server takes every non-ASCII character for a letter. An apostrophe that Unicode counts among the letters
        -- is one as others are: Ukrainian п'ять, Uzbek and Hawaiian.
        spelling := regexp_replace(
            spelling,
            '[\u0080-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf\u00d7\u00f7\u02b9-\u02bf\u2000-\u206f\u20a0-\u20cf\u2190-\u2bff'
            '\u3000-\u3004\u3008-\u3020\u3030\u303d\u30a0\u30fb\U0001f000-\U0001faff]+', ' ', 'g'
        );
    END IF;
    IF octet_length(spelling) > 2047 AND spelling ~ '[^\u0001-/:-@[-`{-\u007f]{255}' THEN
        spelling := regexp_replace(spelling, '[A-Za-z0-9]{255,}', ' ', 'g');
        spelling := regexp_replace(spelling, '[^\u0001-/:-@[-`{-\u007f]{255}', '\& ', 'g');
    END IF;
    RETURN spelling;
END
$function$;
