-- The value of every setting in this session and its source: parameter (SET, ALTER ROLE, ALTER DATABASE), profile, stored,
-- or default. SET accepts anything, so values may be invalid.
CREATE OR REPLACE VIEW pgrecall.settings_in_force AS
SELECT d.name, r.value, r.source,
       d.default_value, d.minimum, d.maximum, d.is_integer, d.unit, d.description, d.choices, d.is_stored_only, d.pattern, d."group"
FROM pgrecall.setting_definitions d
JOIN pgrecall.resolved_settings(NULL) r ON r.name = d.name;

GRANT SELECT ON pgrecall.settings_in_force TO pgrecall_reader, pgrecall_embedder;
