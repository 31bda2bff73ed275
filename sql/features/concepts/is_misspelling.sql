-- Tells whether two normalised names differ only by one letter of a longer word, or by their spacing.
--
-- Trigrams alone would match "erik erikson" with "erikson" and "joseph smith sr" with "joseph smith", but an additional
-- word makes another name. The differing word has at least six letters and the same beginning: "iran" and "iraq" are
-- not misspellings.
CREATE OR REPLACE FUNCTION _pgrecall.is_misspelling(one text, other text)
RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
SET search_path FROM CURRENT
AS $function$
DECLARE
    words text[];
    others text[];
    word text;
    like_word text;
    place integer := 1;
    size integer;
BEGIN
    IF abs(length(one) - length(other)) > 3 THEN
        RETURN false;
    ELSIF replace(one, ' ', '') = replace(other, ' ', '') THEN
        RETURN true;
    END IF;
    words := string_to_array(one, ' ');
    others := string_to_array(other, ' ');
    IF abs(length(one) - length(other)) > 1 OR cardinality(words) <> cardinality(others) THEN
        RETURN false;
    END IF;
    FOR i IN 1 .. cardinality(words) LOOP
        IF words[i] <> others[i] THEN
            IF word IS NOT NULL THEN
                RETURN false;
            END IF;
            word := words[i];
            like_word := others[i];
        END IF;
    END LOOP;
    size := greatest(length(word), length(like_word));
    IF size < 6 THEN
        RETURN false;
    END IF;
    WHILE substr(word, place, 1) = substr(like_word, place, 1) LOOP
        place := place + 1;
    END LOOP;
    -- One letter is replaced, missing, or swapped with the next.
    RETURN place > 1 AND (
        CASE sign(length(word) - length(like_word))
            WHEN 0 THEN substr(word, place + 1) = substr(like_word, place + 1)
                        OR (substr(word, place, 2) = reverse(substr(like_word, place, 2))
                            AND substr(word, place + 2) = substr(like_word, place + 2))
            WHEN 1 THEN substr(word, place + 1) = substr(like_word, place)
            ELSE substr(word, place) = substr(like_word, place + 1)
        END
    );
END
$function$;

COMMENT ON FUNCTION _pgrecall.is_misspelling IS
    'Tells whether two normalised names differ only by one letter of a longer word, or by their spacing.';
