-- Returns the schema of the functions for clients: public, unless the first migration chose another.
CREATE OR REPLACE FUNCTION pgrecall.function_schema()
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN (SELECT i.function_schema FROM pgrecall.installation i);

GRANT EXECUTE ON FUNCTION pgrecall.function_schema TO pgrecall_reader, pgrecall_embedder;
