-- The value of every setting in this session, and where it comes from.
--
-- Session, role or database (SET pgrecall.x, an empty string counts as unset) beats stored (set_setting), which
-- beats the built-in default. Nothing is validated here: plain SET accepts anything.
CREATE OR REPLACE VIEW pgrecall.settings_in_force AS
SELECT d.name,
       COALESCE(p.value, s.value, d.default_value) AS value,
       CASE WHEN p.value IS NOT NULL THEN 'parameter' WHEN s.value IS NOT NULL THEN 'stored' ELSE 'default' END AS source,
       d.default_value, d.minimum, d.maximum, d.is_integer, d.unit, d.description, d.choices, d.is_stored_only
FROM pgrecall.setting_definitions d
CROSS JOIN LATERAL (
    SELECT CASE WHEN NOT d.is_stored_only THEN NULLIF(current_setting('pgrecall.' || d.name, true), '') END AS value
) p
LEFT JOIN pgrecall.settings s ON s.name = d.name;

COMMENT ON VIEW pgrecall.settings_in_force IS
    'The value of every setting in this session and its source: parameter (SET, ALTER ROLE, ALTER DATABASE), stored, or default.';
