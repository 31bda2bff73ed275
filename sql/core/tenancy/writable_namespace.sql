-- Returns the id of the namespace for a call that writes to it.
--
-- namespace  NULL: the setting pgrecall.namespace, then 'default'
--
-- Errors  42704 it does not exist, or the role may not see it;  42501 the role may only read it
CREATE OR REPLACE FUNCTION _pgrecall.writable_namespace(namespace text)
RETURNS integer
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path FROM CURRENT
AS $function$
DECLARE
    name CONSTANT text := pgrecall.namespace_name(namespace);
    home CONSTANT integer := pgrecall.namespace_id(namespace);
BEGIN
    IF home IS NULL THEN
        RAISE EXCEPTION 'there is no namespace "%"', left(name, 200)
            USING ERRCODE = 'undefined_object', HINT = 'SELECT name FROM pgrecall.list_namespaces() lists them.';
    ELSIF NOT _pgrecall.may_write(home) THEN
        RAISE EXCEPTION 'role "%" may only read namespace "%"', pg_get_userbyid(pgrecall.session_role()), name
            USING ERRCODE = 'insufficient_privilege',
                  HINT = 'An administrator grants more with pgrecall.grant_namespace(role, namespace, ''write'').';
    END IF;
    RETURN home;
END
$function$;
