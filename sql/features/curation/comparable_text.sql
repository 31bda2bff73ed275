-- Normalises case, punctuation and white space, to compare two texts as wholes.
--
-- Punctuation inside a word or number stays: 1.5 differs from 15, and a-b from ab.
CREATE OR REPLACE FUNCTION _pgrecall.comparable_text(content text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN btrim(regexp_replace(
    lower(normalize(content, NFKC)), '(?<![[:alnum:]])[^[:alnum:]+$€£%°<>=#-]+|[^[:alnum:]+$€£%°<>=#-]+(?![[:alnum:]])', ' ', 'g'
));
