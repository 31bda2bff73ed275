-- Whether the current role may write to a namespace. The policies decide: this is for an error that says what to do.
CREATE OR REPLACE FUNCTION pgrecall.may_write(namespace_id integer)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN pgrecall.sees_all()
    OR EXISTS (SELECT FROM pgrecall.grants g WHERE g.namespace_id = may_write.namespace_id AND g.access = 'write');

COMMENT ON FUNCTION pgrecall.may_write IS 'Whether the current role may write to a namespace.';
