-- Returns the statements that give another database the settings of this one: those of pgrecall and pgvector that ALTER DATABASE and
-- ALTER ROLE made. Run them there as a superuser, after the restore: no dump of a database contains them.
--
-- A role's setting for all databases is one of every database there. They name no database, so that a script suits any.
CREATE OR REPLACE FUNCTION pgrecall.setting_statements()
RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL SAFE ROWS 10
BEGIN ATOMIC
    SELECT s.statement
    FROM (
        -- Loads the library: only then is a setting of pgvector known, and its value checked.
        SELECT 1, '', '', 'DO $$ BEGIN PERFORM ''[1]''::' || format('%I.vector', n.nspname) || '; END $$;'
        FROM pg_extension e
        JOIN pg_namespace n ON n.oid = e.extnamespace
        WHERE e.extname = 'vector'
        UNION ALL
        SELECT 2, COALESCE(r.rolname, ''), c.name, CASE
            WHEN d.setdatabase = 0 THEN format('ALTER ROLE %s SET %s = %L;', COALESCE(quote_ident(r.rolname), 'ALL'), c.name, c.value)
            -- format() is called there, with the name of that database.
            ELSE format('DO %L;', format('BEGIN EXECUTE format(%L, current_database()); END', replace(
                CASE WHEN d.setrole = 0 THEN 'ALTER DATABASE ' ELSE format('ALTER ROLE %I IN DATABASE ', r.rolname) END, '%', '%%'
            ) || '%I' || replace(format(' SET %s = %L', c.name, c.value), '%', '%%')))
        END
        FROM pg_db_role_setting d
        LEFT JOIN pg_roles r ON r.oid = d.setrole
        CROSS JOIN LATERAL unnest(d.setconfig) u (setting)
        CROSS JOIN LATERAL (
            SELECT split_part(u.setting, '=', 1) AS name, substr(u.setting, strpos(u.setting, '=') + 1) AS value
        ) c
        WHERE (d.setdatabase = 0 OR d.setdatabase = (SELECT b.oid FROM pg_database b WHERE b.datname = current_database()))
          AND c.name ~ '^(pgrecall|hnsw)\.[a-z_0-9]+$'
    ) s (place, role, name, statement)
    ORDER BY s.place, s.role, s.name, s.statement;
END;
