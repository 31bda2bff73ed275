-- A text without what does not count where two are compared as wholes: case, punctuation, white space.
--
-- What stands inside a word or a number stays: 1.5 and 15 are two, and so are a-b and ab.
CREATE OR REPLACE FUNCTION _pgrecall.comparable_text(content text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN btrim(regexp_replace(
    lower(normalize(content, NFKC)), '(?<![[:alnum:]])[^[:alnum:]+$€£%°-]+|[^[:alnum:]+$€£%°-]+(?![[:alnum:]])', ' ', 'g'
));

COMMENT ON FUNCTION _pgrecall.comparable_text IS
    'A text without what does not count where two are compared as wholes: case, punctuation, white space.';
