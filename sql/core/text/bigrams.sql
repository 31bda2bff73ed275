-- Splits runs of some characters into overlapping pairs: 東京都 becomes 東京 京都. A run of one character stays as it is.
--
-- characters  for a regular expression's brackets, from cjk_class() or syllabic_class()
CREATE OR REPLACE FUNCTION _pgrecall.bigrams(content text, characters text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN regexp_replace(
    regexp_replace(content, '[' || characters || ']+', ' \& ', 'g'),
    '(?<=[' || characters || '])[' || characters || '](?=[' || characters || '])', '\& \&', 'g'
);
