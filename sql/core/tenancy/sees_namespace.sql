-- Tells whether a role may read a namespace, or write to it: by a grant, by seeing every namespace, or as owner of the tables.
--
-- may_read() and may_write() call it for the session's role.
--
-- is_writing  check the right to write
CREATE OR REPLACE FUNCTION _pgrecall.sees_namespace(role regrole, namespace_id integer, is_writing boolean)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN _pgrecall.sees_all(role) OR EXISTS (
    SELECT FROM pgrecall.grants g
    WHERE g.namespace_id = sees_namespace.namespace_id AND g.role = ANY (_pgrecall.held_roles(sees_namespace.role))
      AND (g.access = 'write' OR NOT is_writing)
);
