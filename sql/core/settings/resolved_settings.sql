-- Returns the value of every setting for one call, and its source: argument, parameter, profile, learned, stored, or default.
--
-- The first of these counts: the call's argument; the parameter that session, role or database SET (an empty string
-- counts as unset, because SET LOCAL leaves one behind); the profile; what the namespace has learned (pgrecall.learn);
-- the stored value (set_setting); the built-in default. A stored-only setting has its stored value or default.
--
-- arguments  settings of this call by name; NULL: none
-- learned    learned settings by name; NULL: none
CREATE OR REPLACE FUNCTION pgrecall.resolved_settings(arguments jsonb, learned jsonb DEFAULT NULL)
RETURNS TABLE (name text, value text, source text)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 70
BEGIN ATOMIC
    WITH profile AS MATERIALIZED (
        SELECT p.settings
        FROM pgrecall.profiles p
        WHERE p.name = COALESCE(
            arguments ->> 'profile', NULLIF(current_setting('pgrecall.profile', true), ''), pgrecall.stored_setting('profile')
        )
    )
    SELECT d.name,
           COALESCE(v.argument, v.parameter, v.profile, v.learned, s.value, d.default_value),
           CASE WHEN v.argument IS NOT NULL THEN 'argument' WHEN v.parameter IS NOT NULL THEN 'parameter'
                WHEN v.profile IS NOT NULL THEN 'profile'
                WHEN v.learned IS NOT NULL THEN 'learned' WHEN s.value IS NOT NULL THEN 'stored' ELSE 'default' END
    FROM pgrecall.setting_definitions d
    CROSS JOIN LATERAL (
        SELECT CASE WHEN NOT d.is_stored_only THEN arguments ->> d.name END AS argument,
               CASE WHEN NOT d.is_stored_only THEN NULLIF(current_setting('pgrecall.' || d.name, true), '') END AS parameter,
               CASE WHEN NOT d.is_stored_only THEN (SELECT p.settings ->> d.name FROM profile p) END AS profile,
               learned ->> d.name AS learned
    ) v
    LEFT JOIN pgrecall.settings s ON s.name = d.name;
END;

GRANT EXECUTE ON FUNCTION pgrecall.resolved_settings TO pgrecall_reader, pgrecall_embedder;
