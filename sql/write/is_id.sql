-- Whether a value of JSON is an id of a memory.
CREATE OR REPLACE FUNCTION _pgrecall.is_id(value jsonb)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN jsonb_typeof(value) = 'number' THEN
    scale(value::numeric) = 0 AND value::numeric BETWEEN 0 AND 9223372036854775807
ELSE false END;

COMMENT ON FUNCTION _pgrecall.is_id IS 'Whether a value of JSON is an id of a memory.';
