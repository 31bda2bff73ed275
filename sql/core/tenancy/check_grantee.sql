-- Looks up the namespace and the role of a grant; raises an error if either does not exist.
--
-- Errors  42704 no such role, or no such namespace
CREATE OR REPLACE FUNCTION _pgrecall.check_grantee(role text, namespace text, OUT namespace_id integer, OUT role_id regrole)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
BEGIN
    role_id := to_regrole(quote_ident(check_grantee.role));
    IF role_id IS NULL THEN
        RAISE EXCEPTION 'there is no role "%"', COALESCE(left(check_grantee.role, 80), 'NULL')
            USING ERRCODE = 'undefined_object', HINT = 'Create it with CREATE ROLE. Write its name as pg_roles shows it.';
    END IF;
    SELECT n.id INTO namespace_id FROM pgrecall.namespaces n WHERE n.name = check_grantee.namespace;
    IF namespace_id IS NULL THEN
        RAISE EXCEPTION 'there is no namespace "%"', COALESCE(left(check_grantee.namespace, 200), 'NULL')
            USING ERRCODE = 'undefined_object', HINT = 'Create it with pgrecall.create_namespace().';
    END IF;
END
$function$;
