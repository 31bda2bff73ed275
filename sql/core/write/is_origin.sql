-- Tells whether a text names an origin: checked before a cast, whose error would quote it.
CREATE OR REPLACE FUNCTION _pgrecall.is_origin(name text)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN name = ANY (enum_range(NULL::pgrecall.memory_origin)::text[]);
