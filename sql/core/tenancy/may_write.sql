-- Tells whether the session's role may write a namespace. Policies enforce it; this serves a clear error message.
CREATE OR REPLACE FUNCTION _pgrecall.may_write(namespace_id integer)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN _pgrecall.sees_namespace(pgrecall.session_role(), namespace_id, true);
