-- Describes in words which values a setting accepts; NULL if there is no such setting.
CREATE OR REPLACE FUNCTION pgrecall.describe_accepted(name text)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN (
    SELECT CASE
        WHEN d.choices IS NOT NULL THEN 'one of ' || array_to_string(d.choices, ', ')
        WHEN d.minimum IS NOT NULL
            THEN format('a %s between %s and %s', CASE WHEN d.is_integer THEN 'whole number' ELSE 'number' END, d.minimum, d.maximum)
        WHEN d.unit = 'interval' THEN 'a number and a unit, such as 30 days or 168 hours'
        WHEN d.unit IN ('path', 'folder') THEN 'an absolute path'
        WHEN d.name = 'namespaces' THEN 'an array of names such as {me,team}'
        WHEN d.pattern IS NOT NULL THEN 'a list such as ' || d.default_value
        WHEN d.name = 'profile' THEN 'the name of a profile in pgrecall.profiles'
        ELSE 'any text'
    END
    FROM pgrecall.setting_definitions d
    WHERE d.name = describe_accepted.name
);

GRANT EXECUTE ON FUNCTION pgrecall.describe_accepted TO pgrecall_reader, pgrecall_embedder;
