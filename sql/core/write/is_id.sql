-- Whether a text is the id of a row, or a ticket: a whole number up to 2^63 - 1.
CREATE OR REPLACE FUNCTION _pgrecall.is_id(value text)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN value ~ '^[0-9]{1,19}$' AND lpad(value, 19, '0') <= '9223372036854775807' COLLATE "C";
