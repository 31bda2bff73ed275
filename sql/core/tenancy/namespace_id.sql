-- Returns the id of the namespace for a call: the argument, else the setting pgrecall.namespace, else 'default'. NULL if it
-- does not exist.
--
-- namespace  NULL: the setting pgrecall.namespace, then 'default'
CREATE OR REPLACE FUNCTION pgrecall.namespace_id(namespace text DEFAULT NULL)
RETURNS integer
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path FROM CURRENT
RETURN _pgrecall.find_namespace(pgrecall.namespace_name(namespace));

ALTER FUNCTION pgrecall.namespace_id OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.namespace_id TO pgrecall_reader;
