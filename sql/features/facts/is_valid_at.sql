-- Tells whether a fact holds at a moment, from valid_from (inclusive) to valid_to; NULL is an open end.
CREATE OR REPLACE FUNCTION _pgrecall.is_valid_at(valid_from timestamptz, valid_to timestamptz, moment timestamptz)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (valid_from IS NULL OR valid_from <= moment) AND (valid_to IS NULL OR valid_to > moment);
