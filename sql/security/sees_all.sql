-- Whether the session's role sees every namespace: the owner, an administrator, a member of pgrecall_everywhere.
CREATE OR REPLACE FUNCTION pgrecall.sees_all()
RETURNS boolean
LANGUAGE sql STABLE PARALLEL RESTRICTED
-- No namespace has this number.
RETURN pgrecall.reaches(pgrecall.session_role(), 0, false);

COMMENT ON FUNCTION pgrecall.sees_all IS 'Whether the session''s role sees every namespace.';
