-- A relationship's label as it is stored and looked up: lower case, one space between words.
CREATE OR REPLACE FUNCTION _pgrecall.normalize_label(label text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
RETURN btrim(regexp_replace(lower(label), '[[:space:]]+', ' ', 'g'));

COMMENT ON FUNCTION _pgrecall.normalize_label IS
    'A relationship''s label as it is stored and looked up: lower case, one space between words.';
