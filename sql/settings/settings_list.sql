-- The value of every setting in this session and its source, for clients: settings_in_force as a function.
CREATE OR REPLACE FUNCTION pgrecall.settings_list()
RETURNS TABLE (
    name text, value text, source text, default_value text, unit text, description text, is_stored_only boolean
)
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT s.name, s.value, s.source, s.default_value, s.unit, s.description, s.is_stored_only
    FROM pgrecall.settings_in_force s
    ORDER BY s.name;
END;

COMMENT ON FUNCTION pgrecall.settings_list IS
    'Every setting of pgrecall with its value in this session, where that comes from, its default, unit and effect.';

GRANT EXECUTE ON FUNCTION pgrecall.settings_list TO pgrecall_reader;
