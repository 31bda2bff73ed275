-- Tells whether a role sees every namespace: the owner, an administrator, a member of pgrecall_everywhere.
--
-- It must not read tables of pgrecall, because all their policies call it.
--
-- role  NULL: the session's role
CREATE OR REPLACE FUNCTION _pgrecall.sees_all(role regrole DEFAULT NULL)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path FROM CURRENT
AS $function$
DECLARE
    asking CONSTANT regrole := COALESCE(sees_all.role, pgrecall.session_role());
BEGIN
    RETURN pg_has_role(asking, 'pgrecall_everywhere', 'USAGE')
        OR pg_has_role(asking, (SELECT c.relowner FROM pg_class c WHERE c.oid = 'pgrecall.memories'::regclass), 'USAGE')
        OR COALESCE((SELECT r.rolbypassrls FROM pg_roles r WHERE r.oid = asking), false);
END
$function$;
