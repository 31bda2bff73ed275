-- Whether the session's role may hold up those who write to a namespace: who writes there, an embedder, who sees all.
--
-- For functions that run with their owner's rights: a row of pgrecall.locks holds up all writers of its namespace.
CREATE OR REPLACE FUNCTION pgrecall.may_lock(namespace_id integer)
RETURNS boolean
-- Restricted: a parallel worker does not know of SET ROLE by the setting.
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path FROM CURRENT
AS $function$
DECLARE
    asking CONSTANT regrole := pgrecall.session_role();
BEGIN
    RETURN pg_has_role(asking, 'pgrecall_everywhere', 'USAGE') OR pg_has_role(asking, 'pgrecall_embedder', 'USAGE')
        OR pg_has_role(asking, (SELECT c.relowner FROM pg_class c WHERE c.oid = 'pgrecall.locks'::regclass), 'USAGE')
        OR EXISTS (
            SELECT FROM pgrecall.grants g
            WHERE g.namespace_id = may_lock.namespace_id AND g.access = 'write' AND g.role = ANY (pgrecall.held_roles(asking))
        );
END
$function$;

COMMENT ON FUNCTION pgrecall.may_lock IS 'Whether the session''s role may hold up those who write to a namespace.';
