-- Folds a normalised name to the form that its spellings share: no titles, legal forms, accents, spaces or apostrophes.
--
-- It also writes out common abbreviations ("js", "univ", "st petersburg"), drops "and" and a leading "the", writes American
-- spellings (colour, haemo-), and transliterates Cyrillic. Numbers stay apart: "html 5" becomes "html5", but "1 2" stays "1 2"
-- and is not "12".
--
-- is_expanded  writes umlauts as two letters ("müller" becomes "mueller"), otherwise as one ("muller")
CREATE OR REPLACE FUNCTION _pgrecall.folded_name(alias text, is_expanded boolean DEFAULT false)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
SET search_path FROM CURRENT SET standard_conforming_strings = on
AS $function$
DECLARE
    abbreviations CONSTANT jsonb := jsonb '{
        "k8s": "kubernetes", "postgres": "postgresql", "univ": "university", "dept": "department", "intl": "international",
        "govt": "government", "mgmt": "management"
    }';
    words text[];
    plain text := alias;
BEGIN
    IF is_expanded THEN
        plain := replace(replace(replace(replace(replace(plain, 'ä', 'ae'), 'ö', 'oe'), 'ü', 'ue'), 'ø', 'oe'), 'å', 'aa');
    END IF;
    words := string_to_array(_pgrecall.canonical_name(plain), ' ');
    IF cardinality(words) > 1 THEN
        IF words[1] = 'the' AND (cardinality(words) > 2 OR length(words[2]) >= 5) THEN
            words := words[2:];
        ELSIF words[1] IN ('st', 'ste', 'mt') THEN
            words[1] := CASE words[1] WHEN 'mt' THEN 'mount' WHEN 'st' THEN 'saint' ELSE 'sainte' END;
        END IF;
        words := words[:1] || array_remove(array_remove(array_remove(words[2:], 'and'), 'und'), 'et');
    END IF;
    SELECT string_agg(COALESCE(abbreviations ->> w.word, w.word), ' ' ORDER BY w.place) INTO plain
    FROM unnest(words) WITH ORDINALITY w (word, place);
    IF plain ~ '[а-яё]' THEN
        plain := replace(replace(replace(plain, 'щ', 'shch'), 'ж', 'zh'), 'х', 'kh');
        plain := replace(replace(replace(plain, 'ц', 'ts'), 'ч', 'ch'), 'ш', 'sh');
        plain := replace(replace(regexp_replace(plain, '[иы]й(?= |$)', 'y', 'g'), 'ю', 'yu'), 'я', 'ya');
        plain := translate(plain, 'абвгдеёзийклмнопрстуфыэьъ', 'abvgdeeziyklmnoprstufye');
    END IF;
    plain := regexp_replace(plain, '(col|fav|behavi|lab|harb|tum|hum|neighb|flav|hon)our', '\1or', 'g');
    plain := regexp_replace(plain, '(?<=\m|leuk|an)ae(?=m|d|sth)|(?<=\mh)ae(?=m)|\moe(?=st|so|de)', 'e', 'g');
    -- A space stays between two digits.
    plain := regexp_replace(plain, '(?<![0-9])[ .]+|[ .]+(?![0-9])', '', 'g');
    plain := replace(replace(replace(plain, 'database', 'db'), 'repository', 'repo'), 'configuration', 'config');
    RETURN CASE plain WHEN 'js' THEN 'javascript' WHEN 'ts' THEN 'typescript' ELSE plain END;
END
$function$;
