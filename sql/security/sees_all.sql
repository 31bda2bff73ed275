-- Whether the current role sees every namespace: the owner, an administrator, a member of pgrecall_everywhere.
CREATE OR REPLACE FUNCTION pgrecall.sees_all()
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN pg_has_role('pgrecall_everywhere', 'USAGE') OR NOT row_security_active('pgrecall.memories'::regclass);

COMMENT ON FUNCTION pgrecall.sees_all IS 'Whether the current role sees every namespace.';
