-- The origin of a memory whose origin nobody says: the setting default_origin.
CREATE OR REPLACE FUNCTION _pgrecall.default_origin()
RETURNS pgrecall.memory_origin
LANGUAGE sql STABLE PARALLEL SAFE
RETURN pgrecall.stored_setting('default_origin')::pgrecall.memory_origin;
