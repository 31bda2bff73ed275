-- Whether the session's role may read a namespace. The policies decide: this is for what runs as pgrecall_engine.
CREATE OR REPLACE FUNCTION _pgrecall.may_read(namespace_id integer)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN _pgrecall.sees_namespace(pgrecall.session_role(), namespace_id, false);

COMMENT ON FUNCTION _pgrecall.may_read IS 'Whether the session''s role may read a namespace.';
