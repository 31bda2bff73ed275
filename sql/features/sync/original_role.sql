-- The name of a role as it was where a record was made: without the mark that import_records() adds.
CREATE OR REPLACE FUNCTION _pgrecall.original_role(role text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN regexp_replace(role, '^imported:', '');
