-- Returns the name of the namespace for a call: the argument, else the setting pgrecall.namespace, else 'default'.
CREATE OR REPLACE FUNCTION pgrecall.namespace_name(namespace text)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN COALESCE(
    namespace, NULLIF(current_setting('pgrecall.namespace', true), ''), pgrecall.stored_setting('namespace')
);

GRANT EXECUTE ON FUNCTION pgrecall.namespace_name TO pgrecall_reader;
