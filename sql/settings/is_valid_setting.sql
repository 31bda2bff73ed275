-- Whether a text is a number in a range.
--
-- value       as written
-- minimum     NULL: any text will do
-- is_integer  whether fractions are refused
CREATE OR REPLACE FUNCTION pgrecall.is_valid_setting(
    value text, minimum double precision, maximum double precision, is_integer boolean
)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN minimum IS NULL THEN true
    WHEN value !~ '^[+-]?[0-9]{1,12}(\.[0-9]{0,12})?$' THEN false
    WHEN is_integer AND value ~ '\.' THEN false
    ELSE value::double precision BETWEEN minimum AND maximum
END;

COMMENT ON FUNCTION pgrecall.is_valid_setting IS 'Whether a setting''s value is a number in its range.';
