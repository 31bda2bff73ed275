-- The deleted_at of an imported memory until link_imported_memories() sets its successor: no clock has shown it.
CREATE OR REPLACE FUNCTION _pgrecall.awaits_successor()
RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN timestamptz '1000-01-01 00:00:00+00';
