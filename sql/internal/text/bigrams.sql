-- Splits runs of Chinese, Japanese and Korean into overlapping pairs of characters: 東京都 becomes 東京 京都.
--
-- These scripts have no spaces between words. With pairs, any word of two or more characters is found at any position,
-- and phrases still match. A run of one character stays as it is.
CREATE OR REPLACE FUNCTION _pgrecall.bigrams(content text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
SET search_path FROM CURRENT
AS $function$
DECLARE
    character text := '[' || _pgrecall.cjk_class() || ']';
BEGIN
    RETURN regexp_replace(
        regexp_replace(content, character || '+', ' \& ', 'g'),
        '(?<=' || character || ')' || character || '(?=' || character || ')', '\& \&', 'g'
    );
END
$function$;

COMMENT ON FUNCTION _pgrecall.bigrams IS
    'Splits runs of Chinese, Japanese and Korean into overlapping pairs of characters.';
