-- Recreates default_settings() and session_setting_names() from setting_definitions, as constants.
--
-- Every recall needs them, and reading the definitions takes a fraction of a millisecond. Every installation calls this
-- function.
CREATE OR REPLACE FUNCTION _pgrecall.rebuild_default_settings()
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    target record;
BEGIN
    FOR target IN
        SELECT 'default_settings' AS name, 'pgrecall.recall_settings' AS type,
               -- An empty text is not a valid interval.
               jsonb_populate_record(NULL::pgrecall.recall_settings, jsonb_object_agg(d.name, NULLIF(d.default_value, '')))::text AS value
        FROM pgrecall.setting_definitions d
        UNION ALL
        SELECT 'session_setting_names', 'text[]', array_agg(d.name)::text
        FROM pgrecall.setting_definitions d
        WHERE NOT d.is_stored_only
    LOOP
        -- As text, since pg_dump of PostgreSQL 15 fails on a parsed body with a composite constant.
        EXECUTE format(
            'CREATE OR REPLACE FUNCTION _pgrecall.%I() RETURNS %s LANGUAGE sql IMMUTABLE PARALLEL SAFE '
            'SET search_path FROM CURRENT AS %L',
            target.name, target.type, format('SELECT %L::%s', target.value, target.type)
        );
    END LOOP;
END
$function$;

COMMENT ON FUNCTION _pgrecall.rebuild_default_settings IS
    'Recreates default_settings() and session_setting_names() from setting_definitions, as constants.';
