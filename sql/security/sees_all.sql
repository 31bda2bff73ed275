-- Whether the session's role sees every namespace: the owner, an administrator, a member of pgrecall_everywhere.
CREATE OR REPLACE FUNCTION pgrecall.sees_all()
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path FROM CURRENT
AS $function$
DECLARE
    asking CONSTANT regrole := pgrecall.session_role();
BEGIN
    RETURN pg_has_role(asking, 'pgrecall_everywhere', 'USAGE')
        OR pg_has_role(asking, (SELECT c.relowner FROM pg_class c WHERE c.oid = 'pgrecall.memories'::regclass), 'USAGE')
        OR (SELECT r.rolbypassrls FROM pg_roles r WHERE r.oid = asking);
END
$function$;

COMMENT ON FUNCTION pgrecall.sees_all IS 'Whether the session''s role sees every namespace.';
