-- Identifies the database and the namespace of an offline copy.
--
-- server  identifies cluster and database; changes with a restore or pg_upgrade
-- origin  identifies the namespace; a restore keeps it
--
-- Errors  42704 no such namespace
CREATE OR REPLACE FUNCTION pgrecall.sync_source(namespace text DEFAULT NULL)
RETURNS TABLE (name text, server text, origin text, language text)
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path FROM CURRENT
BEGIN ATOMIC
    SELECT n.name, format('%s/%s', c.system_identifier, d.oid),
           format('%s@%s', n.id, encode(timestamptz_send(n.created_at), 'hex')), n.language
    FROM pgrecall.namespaces n
    CROSS JOIN pg_control_system() c
    JOIN pg_database d ON d.datname = current_database()
    WHERE n.id = _pgrecall.known_namespace(pgrecall.namespace_name(sync_source.namespace));
END;

ALTER FUNCTION pgrecall.sync_source OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.sync_source TO pgrecall_reader;
