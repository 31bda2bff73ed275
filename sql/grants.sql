-- Grants all privileges. Installed last.
--
-- Roles that an operator grants to logins. They call functions; only pgrecall_admin has privileges on tables that hold memories:
--
-- pgrecall_reader    recalls, and evaluates recall
-- pgrecall_writer    a reader that also remembers, updates, supersedes, forgets and judges
-- pgrecall_embedder  claims pending memories and stores their embeddings, names and facts
-- pgrecall_admin     a writer that calls every function and sees every row of every table; owns nothing, and changes no row
--                    that decides or proves something
-- pgrecall_everywhere  sees every namespace; gives no functions by itself
--
-- Roles that own functions and have no members:
--
-- pgrecall_gate      owns the functions that clients call; row-level security (core/tenancy/policies.sql) limits it to the
--                    caller's rows
-- pgrecall_engine    owns the functions that docs/tenants.md lists; sees every row; no tenant calls its functions
--
-- A function in schema public or pgrecall is public: its file ends with a GRANT that names the roles that may call it.
-- Without a GRANT only administrators may call it. So does the file of a view that they may read. A function in schema
-- _pgrecall is internal: no client may call it.
-- No function runs with the rights of the role that installed it.
REVOKE ALL ON ALL ROUTINES IN SCHEMA pgrecall, _pgrecall FROM PUBLIC;
-- The installer grants CREATE temporarily, to make these roles owners of functions.
REVOKE ALL ON SCHEMA pgrecall, _pgrecall FROM pgrecall_gate, pgrecall_engine;

GRANT USAGE ON SCHEMA pgrecall TO pgrecall_reader, pgrecall_embedder, pgrecall_gate, pgrecall_engine;
GRANT USAGE ON SCHEMA _pgrecall TO pgrecall_gate, pgrecall_engine, pgrecall_admin;
GRANT EXECUTE ON ALL ROUTINES IN SCHEMA pgrecall, _pgrecall TO pgrecall_gate, pgrecall_engine, pgrecall_admin;

-- Tables are those of _pgrecall.table_declarations(): no role has a privilege on another. Views show what their caller may read.
DO $relations$
DECLARE
    found record;
    changes text;
BEGIN
    FOR found IN
        SELECT c.relname AS name FROM pg_class c WHERE c.relnamespace = 'pgrecall'::regnamespace AND c.relkind = 'v'
    LOOP
        EXECUTE format('GRANT SELECT ON pgrecall.%I TO pgrecall_gate, pgrecall_engine, pgrecall_admin', found.name);
    END LOOP;
    FOR found IN SELECT * FROM _pgrecall.table_declarations() d ORDER BY d.name LOOP
        IF found.is_readable THEN
            EXECUTE format('GRANT SELECT ON pgrecall.%I TO pgrecall_reader, pgrecall_embedder', found.name);
        END IF;
        -- The policies limit the gate to the caller's rows. The engine sees and changes every row.
        EXECUTE format('GRANT SELECT ON pgrecall.%I TO pgrecall_gate', found.name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON pgrecall.%I TO pgrecall_engine', found.name);
        IF found.written IS NOT NULL THEN
            EXECUTE format('GRANT %s ON pgrecall.%I TO pgrecall_gate', found.written, found.name);
        END IF;
        IF found.is_truncated THEN
            EXECUTE format('GRANT TRUNCATE ON pgrecall.%I TO pgrecall_engine', found.name);
        END IF;
        -- Administrators see every row, and change what tenants and embedders change through their functions. Rows that
        -- decide something (the installation, revisions, generations, grants, settings) or that prove something (history,
        -- receipts) are written by functions alone. Of some, triggers on memories write a column.
        EXECUTE format('GRANT SELECT ON pgrecall.%I TO pgrecall_admin', found.name);
        changes := CASE
            WHEN has_table_privilege('pgrecall_gate', 'pgrecall.' || found.name, 'UPDATE') THEN 'INSERT, UPDATE, DELETE'
            ELSE substring(found.written FROM 'UPDATE \([^)]*\)')
        END;
        IF changes IS NOT NULL THEN
            EXECUTE format('GRANT %s ON pgrecall.%I TO pgrecall_admin', changes, found.name);
        END IF;
    END LOOP;
END
$relations$;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA pgrecall TO pgrecall_gate, pgrecall_engine, pgrecall_admin;
-- health() compares it with the ids.
GRANT SELECT ON SEQUENCE pgrecall.memories_id_seq TO pgrecall_gate;
