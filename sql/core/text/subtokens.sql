-- Returns additional tokens of a text: forms of its identifiers, and shorter n-grams of scripts without spaces.
--
-- They are appended after the text, so they do not break up its phrases, and the parts of one identifier form a phrase
-- too. Only the first 65,536 characters are read, and 8,192 for n-grams: more might not fit into a tsvector.
-- NULL or blank if there are none.
--
-- content  after normalize_text() and strip_accents()
CREATE OR REPLACE FUNCTION _pgrecall.subtokens(content text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
SET search_path FROM CURRENT SET standard_conforming_strings = on
AS $function$
DECLARE
    identifiers text;
    characters text;
BEGIN
    SELECT string_agg(_pgrecall.identifier_subtokens(found.identifier), ' ') INTO identifiers
    FROM (
        SELECT f.identifier[1] AS identifier
        FROM regexp_matches(
            left(content, 65536),
            -- Words joined by signs, numbers with commas, mixed-case words.
            '[A-Za-z0-9\u00c0-\u1fff]+(?:(?:[-.&]|_+|://|::|[/\\@]|,(?=[0-9]{3}))[A-Za-z0-9\u00c0-\u1fff]+)+'
            '|[A-Za-z0-9]*[a-z][0-9]*[A-Z][A-Za-z0-9]*|[A-Z]{2,}[a-z]{2,}[A-Za-z0-9]*', 'g'
        ) AS f (identifier)
        WHERE length(f.identifier[1]) < 255
        OFFSET 0
    ) found;
    IF strpos(content, '++') > 0 OR strpos(content, '#') > 0 THEN
        -- C++ and C# become Cplusplus and Csharp.
        SELECT concat_ws(' ', identifiers, string_agg(replace(replace(f.name[1], '#', 'sharp'), '+', 'plus'), ' '))
        INTO identifiers
        FROM regexp_matches(left(content, 65536), '\m[A-Za-z](?:#|\+\+)(?![A-Za-z0-9])', 'g') AS f (name);
    END IF;
    IF octet_length(content) > length(content) AND content ~ ('[' || _pgrecall.cjk_class() || ']') THEN
        -- Skip runs of one character, which are words already, and single kana, which are not words.
        characters := regexp_replace(left(content, 8192), '[^' || _pgrecall.cjk_class() || ']+', ' ', 'g');
        characters := regexp_replace(characters, '(?<![^ ])[^ ](?![^ ])|[\u3041-\u31ff]', '', 'g');
        identifiers := concat_ws(' ', identifiers, regexp_replace(characters, '[^ ]', '\& ', 'g'));
    END IF;
    IF octet_length(content) > length(content) AND content ~ ('[' || _pgrecall.syllabic_class() || ']') THEN
        -- Skip runs of two characters, which are words already.
        characters := regexp_replace(left(content, 8192), '[^' || _pgrecall.syllabic_class() || ']+', ' ', 'g');
        characters := regexp_replace(characters, '(?<![^ ])[^ ]{1,2}(?![^ ])', '', 'g');
        identifiers := concat_ws(' ', identifiers, _pgrecall.bigrams(characters, _pgrecall.syllabic_class()));
    END IF;
    RETURN identifiers;
END
$function$;
