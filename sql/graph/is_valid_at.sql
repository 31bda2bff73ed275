-- Whether a fact holds at a moment: not before valid_from, and until valid_to; NULL where an end is not known.
CREATE OR REPLACE FUNCTION _pgrecall.is_valid_at(valid_from timestamptz, valid_to timestamptz, moment timestamptz)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (valid_from IS NULL OR valid_from <= moment) AND (valid_to IS NULL OR valid_to > moment);

COMMENT ON FUNCTION _pgrecall.is_valid_at IS 'Whether a fact holds at a moment; NULL where an end is not known.';
