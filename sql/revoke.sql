-- Revokes all privileges, so that only the installed files determine them. Installed first.
REVOKE ALL ON SCHEMA pgrecall, _pgrecall FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder, pgrecall_admin;
REVOKE ALL ON ALL TABLES IN SCHEMA pgrecall
    FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder, pgrecall_admin, pgrecall_gate, pgrecall_engine;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA pgrecall
    FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder, pgrecall_admin, pgrecall_gate, pgrecall_engine;
REVOKE ALL ON ALL ROUTINES IN SCHEMA pgrecall, _pgrecall
    FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder, pgrecall_admin, pgrecall_gate, pgrecall_engine;
