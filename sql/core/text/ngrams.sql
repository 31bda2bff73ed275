-- Splits runs of scripts that have no spaces between words into overlapping n-grams.
--
--   Chinese, Japanese, Korean  pairs of characters: 東京都 becomes 東京 京都
--   Thai, Khmer, …             three letters or signs: กินปลา becomes กิน ินป นปล ปลา
--
-- With them, any word of that many characters is found at any position, and phrases still match. A shorter run stays as
-- it is. subtokens() adds what is one character shorter.
CREATE OR REPLACE FUNCTION _pgrecall.ngrams(content text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
SET search_path FROM CURRENT
AS $function$
DECLARE
    syllabic CONSTANT text := '[' || _pgrecall.syllabic_class() || ']';
    split text := _pgrecall.bigrams(content, _pgrecall.cjk_class());
BEGIN
    IF content !~ syllabic THEN
        RETURN split;
    END IF;
    RETURN (
        SELECT string_agg(
            CASE WHEN length(p.piece[1]) > 2
                THEN (SELECT string_agg(substr(p.piece[1], n, 3), ' ' ORDER BY n) FROM generate_series(1, length(p.piece[1]) - 2) n)
                ELSE COALESCE(p.piece[1], p.piece[2])
            END, ' ' ORDER BY p.place
        )
        FROM regexp_matches(split, '(' || syllabic || '{1,255})|([^' || _pgrecall.syllabic_class() || ']+)', 'g')
            WITH ORDINALITY p (piece, place)
    );
END
$function$;
