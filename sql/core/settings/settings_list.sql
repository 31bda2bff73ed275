-- Returns every setting with its value in this session, the value's source, its default, unit, effect and group:
-- pgrecall.settings_in_force as a function, for clients.
CREATE OR REPLACE FUNCTION pgrecall.settings_list()
RETURNS TABLE (
    name text, value text, source text, default_value text, unit text, description text, is_stored_only boolean, "group" text
)
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT s.name, s.value, s.source, s.default_value, s.unit, s.description, s.is_stored_only, s."group"
    FROM pgrecall.settings_in_force s
    ORDER BY s.name;
END;

GRANT EXECUTE ON FUNCTION pgrecall.settings_list TO pgrecall_reader;
