-- What an expansion is kept under: the hash of its query, normalised, and never its text.
CREATE OR REPLACE FUNCTION _pgrecall.expansion_key(query text)
RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sha256(convert_to(pgrecall.normalize_name(query), 'UTF8'));

COMMENT ON FUNCTION _pgrecall.expansion_key IS 'What an expansion is kept under: the hash of its query, normalised.';
