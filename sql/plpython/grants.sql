-- Who may call the functions in Python; after grants.sql, which leaves nothing to PUBLIC.
GRANT EXECUTE ON FUNCTION pgrecall.python_module TO pgrecall_reader;
