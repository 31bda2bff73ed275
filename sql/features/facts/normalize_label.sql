-- Normalises a relationship label: lower case, single spaces.
CREATE OR REPLACE FUNCTION _pgrecall.normalize_label(label text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
RETURN btrim(regexp_replace(lower(label), '[[:space:]]+', ' ', 'g'));
