-- Revokes all privileges, so that only the installed files determine them. Installed first.
REVOKE ALL ON SCHEMA pgrecall, _pgrecall FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder, pgrecall_admin;
REVOKE ALL ON ALL TABLES IN SCHEMA pgrecall
    FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder, pgrecall_admin, pgrecall_gate, pgrecall_engine;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA pgrecall
    FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder, pgrecall_admin, pgrecall_gate, pgrecall_engine;
REVOKE ALL ON ALL ROUTINES IN SCHEMA pgrecall, _pgrecall
    FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder, pgrecall_admin, pgrecall_gate, pgrecall_engine;
-- An installer that is no superuser has the rights of the functions' owners, as their member.
DO $owners$
DECLARE
    found record;
BEGIN
    FOR found IN
        SELECT p.oid::regprocedure AS routine, r.rolname AS owner FROM pg_proc p JOIN pg_roles r ON r.oid = p.proowner
        WHERE p.pronamespace IN ('pgrecall'::regnamespace, '_pgrecall'::regnamespace)
          AND r.rolname IN ('pgrecall_gate', 'pgrecall_engine')
    LOOP
        EXECUTE format('GRANT EXECUTE ON ROUTINE %s TO %I', found.routine, found.owner);
    END LOOP;
END
$owners$;
