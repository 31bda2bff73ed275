-- All profiles with their settings: the built-in ones, and those that set_profile() stored; a stored profile replaces a
-- built-in one. Use one with recall(…, profile => name), SET pgrecall.profile, or set_setting('profile', name).
CREATE OR REPLACE VIEW pgrecall.profiles AS
SELECT substr(s.name, length('profile:') + 1) AS name, s.value::jsonb AS settings, NULL AS description
FROM pgrecall.settings s
WHERE s.name LIKE 'profile:%'
UNION ALL
SELECT d.name, d.settings, d.description
FROM pgrecall.profile_definitions d
WHERE NOT EXISTS (SELECT FROM pgrecall.settings s WHERE s.name = 'profile:' || d.name);

GRANT SELECT ON pgrecall.profiles TO pgrecall_reader, pgrecall_embedder;
