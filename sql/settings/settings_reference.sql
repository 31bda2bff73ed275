-- Every setting for a reader: what it is now and why, what it takes, what it does.
CREATE OR REPLACE VIEW pgrecall.settings_reference AS
SELECT s.name, s.value, s.source, s.default_value AS "default", pgrecall.describe_accepted(s.name) AS accepts, s.unit,
       s.description AS effect,
       CASE WHEN s.is_stored_only THEN 'pgrecall.set_setting()' ELSE 'SET pgrecall.' || s.name || ', pgrecall.set_setting()' END
           AS set_by
FROM pgrecall.settings_in_force s;

COMMENT ON VIEW pgrecall.settings_reference IS
    'Every setting: its value in this session and where it comes from, its default, what it accepts, its unit and its effect.';
