-- Every profile: those that come with pgrecall, and those stored by set_profile(), which beat them.
CREATE OR REPLACE VIEW pgrecall.profiles AS
SELECT substr(s.name, length('profile:') + 1) AS name, s.value::jsonb AS settings, NULL AS description
FROM pgrecall.settings s
WHERE s.name LIKE 'profile:%'
UNION ALL
SELECT d.name, d.settings, d.description
FROM pgrecall.profile_definitions d
WHERE NOT EXISTS (SELECT FROM pgrecall.settings s WHERE s.name = 'profile:' || d.name);

COMMENT ON VIEW pgrecall.profiles IS
    'Every profile with the settings it stands for: recall(…, profile => name), SET pgrecall.profile, set_setting(''profile'', name).';
