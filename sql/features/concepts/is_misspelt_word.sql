-- Tells whether two words without accents are one word, misspelt by one edit, or by two if it is long.
--
-- An edit is a letter added, missing, replaced, or swapped with the next. The shorter a word, the likelier one edit makes another
-- word, and the kinds differ: a doubled letter seldom makes another word, a replaced one often does. So each kind has its own
-- minimum length, in letters of the longer word. The first letter is never edited. At the end a letter is grammar ("austria",
-- "austrian"), unless the word is long.
--
-- is_name  both are capitalised: names have fewer neighbours than the words of a language, so that shorter ones count
CREATE OR REPLACE FUNCTION _pgrecall.is_misspelt_word(one text, other text, is_name boolean, edits integer DEFAULT 1)
RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
SET search_path FROM CURRENT SET standard_conforming_strings = on
AS $function$
DECLARE
    longer text := CASE WHEN length(one) >= length(other) THEN one ELSE other END;
    shorter text := CASE WHEN length(one) >= length(other) THEN other ELSE one END;
    size integer := length(longer);
    surplus integer := size - length(shorter);
    slack CONSTANT integer := CASE WHEN is_name THEN 0 ELSE 1 END;
    letter text;
    place integer := 1;
BEGIN
    IF surplus > edits OR size < 6 OR one ~ '[0-9+#]' OR other ~ '[0-9+#]' THEN
        RETURN false;
    END IF;
    WHILE place <= size AND substr(longer, place, 1) = substr(shorter, place, 1) LOOP
        place := place + 1;
    END LOOP;
    IF place > size THEN
        RETURN true;
    ELSIF place = 1 THEN
        RETURN false;
    END IF;
    letter := substr(longer, place, 1);
    IF surplus = 1 AND substr(longer, place + 1) = substr(shorter, place) THEN
        RETURN CASE
            WHEN letter = substr(longer, place - 1, 1) THEN size >= 8 + slack
            WHEN place = size THEN size >= 10 AND letter IN ('e', 't') OR size >= 9 AND letter = 'h'
            ELSE size >= 8 + slack
        END;
    ELSIF surplus = 0 AND substr(longer, place, 2) = reverse(substr(shorter, place, 2))
          AND substr(longer, place + 2) = substr(shorter, place + 2) THEN
        RETURN size >= 7 + slack;
    ELSIF surplus = 0 AND substr(longer, place + 1) = substr(shorter, place + 1) THEN
        RETURN size >= CASE WHEN is_name THEN 9 ELSE 11 END
            AND NOT (one ~ '([ai]te|ide|[aeiy]ne|[ao]l)s?$' AND other ~ '([ai]te|ide|[aeiy]ne|[ao]l)s?$' AND place > size - 4);
    END IF;
    -- Two edits of a long word, of which one doubles a letter, or does not.
    RETURN edits > 1 AND size >= 12 AND _pgrecall.is_misspelt_word(
        regexp_replace(one, '(.)\1', '\1', 'g'), regexp_replace(other, '(.)\1', '\1', 'g'), is_name, 1
    );
END
$function$;
