-- Tells whether two normalised names differ only by the spelling of one word, or of two long ones.
--
-- All words are the same but one, and that one passes _pgrecall.is_misspelt_word: a name with an additional word is another name.
--
-- is_name  both are capitalised
CREATE OR REPLACE FUNCTION _pgrecall.is_misspelling(one text, other text, is_name boolean)
RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
SET search_path FROM CURRENT
AS $function$
DECLARE
    words text[];
    others text[];
    word text;
    like_word text;
BEGIN
    IF abs(length(one) - length(other)) > 2 THEN
        RETURN false;
    END IF;
    words := string_to_array(_pgrecall.canonical_name(one), ' ');
    others := string_to_array(_pgrecall.canonical_name(other), ' ');
    IF cardinality(words) <> cardinality(others) THEN
        RETURN false;
    END IF;
    FOR place IN 1 .. cardinality(words) LOOP
        IF words[place] <> others[place] THEN
            IF word IS NOT NULL THEN
                RETURN false;
            END IF;
            word := words[place];
            like_word := others[place];
        END IF;
    END LOOP;
    RETURN COALESCE(_pgrecall.is_misspelt_word(word, like_word, is_name, 2), true);
END
$function$;
