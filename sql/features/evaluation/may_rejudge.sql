-- Whether the session's role may replace or remove a judged query of a role.
--
-- It may if it is a member of that role, if that role is gone, and as an administrator.
CREATE OR REPLACE FUNCTION _pgrecall.may_rejudge(owner name)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN owner = '' OR _pgrecall.sees_all() OR COALESCE(
    (SELECT pg_has_role(pgrecall.session_role(), r.oid, 'MEMBER') FROM pg_roles r WHERE r.rolname = owner), true
);
