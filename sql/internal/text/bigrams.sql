-- A text in which runs of Chinese, Japanese and Korean are taken apart into pairs of characters: 東京都 is 東京 京都.
--
-- Where no spaces say what a word is, pairs do: any word of two characters and more is found by them, wherever it
-- stands, and a phrase still is one. A run of one character stays as it is.
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
    'A text in which runs of Chinese, Japanese and Korean are taken apart into pairs of characters.';
