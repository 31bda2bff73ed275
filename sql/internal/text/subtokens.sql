-- What a text is found by beside its words: other forms of its identifiers, single characters of Chinese and Korean.
--
-- They stand after the text, so that they come between no words of a phrase, and the parts of one identifier are a
-- phrase themselves. Only the first 65,536 characters are looked at, and 8,192 for single characters: more of them
-- might not fit into a tsvector. NULL or blank if there is none.
--
-- content  spelled() and without accents
CREATE OR REPLACE FUNCTION _pgrecall.subtokens(content text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
SET search_path FROM CURRENT
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
            -- Words joined by signs, numbers with commas, words of small letters and capitals.
            '[A-Za-z0-9\u00c0-\u1fff]+(?:(?:[-.&]|_+|://|::|[/\\@]|,(?=[0-9]{3}))[A-Za-z0-9\u00c0-\u1fff]+)+'
            '|[A-Za-z0-9]*[a-z][0-9]*[A-Z][A-Za-z0-9]*|[A-Z]{2,}[a-z]{2,}[A-Za-z0-9]*', 'g'
        ) AS f (identifier)
        WHERE length(f.identifier[1]) < 255
        OFFSET 0
    ) found;
    IF strpos(content, '++') > 0 OR strpos(content, '#') > 0 THEN
        -- C++ and C#.
        SELECT concat_ws(' ', identifiers, string_agg(replace(replace(f.name[1], '#', 'sharp'), '+', 'plus'), ' '))
        INTO identifiers
        FROM regexp_matches(left(content, 65536), '\m[A-Za-z](?:#|\+\+)(?![A-Za-z0-9])', 'g') AS f (name);
    END IF;
    IF octet_length(content) > length(content) AND content ~ ('[' || _pgrecall.cjk_class() || ']') THEN
        -- Runs of one are words already, and a single kana is none.
        characters := regexp_replace(left(content, 8192), '[^' || _pgrecall.cjk_class() || ']+', ' ', 'g');
        characters := regexp_replace(characters, '(?<![^ ])[^ ](?![^ ])|[\u3041-\u31ff]', '', 'g');
        RETURN concat_ws(' ', identifiers, regexp_replace(characters, '[^ ]', '\& ', 'g'));
    END IF;
    RETURN identifiers;
END
$function$;

COMMENT ON FUNCTION _pgrecall.subtokens IS
    'What a text is found by beside its words: forms of its identifiers, single characters of Chinese and Korean.';
