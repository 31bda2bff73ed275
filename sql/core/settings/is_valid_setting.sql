-- Tells whether a setting accepts a value: a number in its range, one of its choices, or a match of its pattern; NULL if
-- there is no such setting.
CREATE OR REPLACE FUNCTION pgrecall.is_valid_setting(name text, value text)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN (
    SELECT CASE
        WHEN d.choices IS NOT NULL THEN value = ANY (d.choices)
        WHEN d.pattern IS NOT NULL THEN value = d.default_value OR value ~ d.pattern
        WHEN d.minimum IS NULL THEN true
        WHEN value !~ '^[+-]?[0-9]{1,12}(\.[0-9]{0,30})?$' THEN false
        WHEN d.is_integer AND value ~ '\.' THEN false
        ELSE value::double precision BETWEEN d.minimum AND d.maximum
    END
    FROM pgrecall.setting_definitions d
    WHERE d.name = is_valid_setting.name
);

GRANT EXECUTE ON FUNCTION pgrecall.is_valid_setting TO pgrecall_reader, pgrecall_embedder;
