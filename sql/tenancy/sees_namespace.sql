-- Whether a role sees a namespace: by a grant, as one that sees every namespace, or as owner of the tables.
--
-- may_read() and may_write() ask it of the session's role.
--
-- is_writing  whether it may write there
CREATE OR REPLACE FUNCTION _pgrecall.sees_namespace(role regrole, namespace_id integer, is_writing boolean)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN _pgrecall.sees_all(role) OR EXISTS (
    SELECT FROM pgrecall.grants g
    WHERE g.namespace_id = sees_namespace.namespace_id AND g.role = ANY (_pgrecall.held_roles(sees_namespace.role))
      AND (g.access = 'write' OR NOT is_writing)
);

COMMENT ON FUNCTION _pgrecall.sees_namespace IS 'Whether a role may read a namespace, or write to it.';
