-- Returns a text without characters of no width, which would split a token that everybody reads as one.
CREATE OR REPLACE FUNCTION _pgrecall.visible_text(content text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN content ~ U&'[\00AD\200B-\200F\202A-\202E\2060-\2064\FEFF]' THEN translate(
        content, U&'\00AD\200B\200C\200D\200E\200F\202A\202B\202C\202D\202E\2060\2061\2062\2063\2064\FEFF', ''
    )
    ELSE content
END;
