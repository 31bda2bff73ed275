-- Returns the cache key of an expansion: a hash of the normalised question, as resolve_request() reads it.
CREATE OR REPLACE FUNCTION _pgrecall.expansion_key(query text)
RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sha256(convert_to(pgrecall.normalize_name(_pgrecall.fold_digits(pgrecall.question_part(query))), 'UTF8'));
