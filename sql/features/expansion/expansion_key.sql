-- Returns the cache key of an expansion: a hash of the normalised query.
CREATE OR REPLACE FUNCTION _pgrecall.expansion_key(query text)
RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sha256(convert_to(pgrecall.normalize_name(query), 'UTF8'));
