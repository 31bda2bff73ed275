-- Whether a setting may have a value: a number in its range, one of its choices, of its form.
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

COMMENT ON FUNCTION pgrecall.is_valid_setting IS 'Whether a setting may have a value; NULL if there is no such setting.';

GRANT EXECUTE ON FUNCTION pgrecall.is_valid_setting TO pgrecall_reader, pgrecall_embedder;
