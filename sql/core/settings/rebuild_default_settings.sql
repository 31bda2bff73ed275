-- Recreates default_settings() and session_setting_names() from setting_definitions, as constants.
--
-- Every recall needs them, and reading the definitions takes a fraction of a millisecond. Every installation calls this
-- function. The bodies are texts, since pg_dump of PostgreSQL 15 fails on a parsed one with a composite constant.
CREATE OR REPLACE FUNCTION _pgrecall.rebuild_default_settings()
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    defaults pgrecall.recall_settings;
    names text[];
BEGIN
    -- An empty text is not a valid interval.
    defaults := jsonb_populate_record(defaults, (
        SELECT jsonb_object_agg(d.name, NULLIF(d.default_value, '')) FROM pgrecall.setting_definitions d
    ));
    SELECT array_agg(d.name) INTO names FROM pgrecall.setting_definitions d WHERE NOT d.is_stored_only;
    EXECUTE format(
        'CREATE OR REPLACE FUNCTION _pgrecall.%I() RETURNS pgrecall.recall_settings LANGUAGE sql IMMUTABLE PARALLEL SAFE '
        'SET search_path FROM CURRENT AS %L',
        'default_settings', format('SELECT %L::pgrecall.recall_settings', defaults)
    );
    EXECUTE format(
        'CREATE OR REPLACE FUNCTION _pgrecall.%I() RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE '
        'SET search_path FROM CURRENT AS %L',
        'session_setting_names', format('SELECT %L::text[]', names)
    );
END
$function$;
