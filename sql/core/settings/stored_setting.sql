-- Returns the stored value of a setting, or its default. Ignores what the session has SET.
CREATE OR REPLACE FUNCTION pgrecall.stored_setting(name text)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN COALESCE(
    (SELECT s.value FROM pgrecall.settings s WHERE s.name = stored_setting.name),
    (SELECT d.default_value FROM pgrecall.setting_definitions d WHERE d.name = stored_setting.name)
);

GRANT EXECUTE ON FUNCTION pgrecall.stored_setting TO pgrecall_reader, pgrecall_embedder;
