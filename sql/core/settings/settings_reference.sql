-- All settings, for people: value in this session, its source, the default, accepted values, unit, effect and group.
CREATE OR REPLACE VIEW pgrecall.settings_reference AS
SELECT s.name, s.value, s.source, s.default_value AS "default", pgrecall.describe_accepted(s.name) AS accepts, s.unit,
       s.description AS effect,
       CASE WHEN s.is_stored_only THEN 'pgrecall.set_setting()' ELSE 'SET pgrecall.' || s.name || ', pgrecall.set_setting()' END
           AS set_by,
       s."group"
FROM pgrecall.settings_in_force s;

GRANT SELECT ON pgrecall.settings_reference TO pgrecall_reader, pgrecall_embedder;
