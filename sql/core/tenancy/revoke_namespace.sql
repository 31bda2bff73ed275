-- Revokes a grant of grant_namespace(). Returns whether there was one.
--
-- Errors  42704 no such role, or no such namespace
CREATE OR REPLACE FUNCTION pgrecall.revoke_namespace(role text, namespace text)
RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
SET debug_print_plan = off
AS $function$
DECLARE
    about record;
BEGIN
    SELECT c.* INTO about FROM _pgrecall.check_grantee(revoke_namespace.role, revoke_namespace.namespace) c;
    DELETE FROM pgrecall.grants g WHERE g.namespace_id = about.namespace_id AND g.role = about.role_id;
    RETURN FOUND;
END
$function$;

ALTER FUNCTION pgrecall.revoke_namespace OWNER TO pgrecall_engine;
