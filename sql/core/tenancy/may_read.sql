-- Tells whether the session's role may read a namespace. For functions that run as pgrecall_engine, without policies.
CREATE OR REPLACE FUNCTION _pgrecall.may_read(namespace_id integer)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN _pgrecall.sees_namespace(pgrecall.session_role(), namespace_id, false);
