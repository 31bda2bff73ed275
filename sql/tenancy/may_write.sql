-- Whether the session's role may write to a namespace. The policies decide: this is for an error that says what to do.
CREATE OR REPLACE FUNCTION _pgrecall.may_write(namespace_id integer)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN _pgrecall.sees_namespace(pgrecall.session_role(), namespace_id, true);

COMMENT ON FUNCTION _pgrecall.may_write IS 'Whether the session''s role may write to a namespace.';
