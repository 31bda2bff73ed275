-- Checks that the caller may write to a namespace. Creates it on request.
--
-- create_missing  create the namespace if it does not exist
--
-- Errors  42704 it does not exist, or the role may not see it;  42501 the role may only read it
CREATE OR REPLACE FUNCTION _pgrecall.check_namespace(name text, create_missing boolean)
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    is_writable boolean;
BEGIN
    IF create_missing THEN
        PERFORM pgrecall.create_namespace(check_namespace.name);
    END IF;
    SELECT _pgrecall.may_write(n.id) INTO is_writable FROM _pgrecall.find_namespace(check_namespace.name) n (id) WHERE n.id IS NOT NULL;
    IF is_writable IS NULL THEN
        RAISE EXCEPTION 'there is no namespace "%"', left(check_namespace.name, 200)
            USING ERRCODE = 'undefined_object',
                  HINT = CASE WHEN _pgrecall.sees_all()
                         THEN 'Pass create_namespace => true, or make it with pgrecall.create_namespace().'
                         ELSE 'An administrator makes it with pgrecall.create_namespace(), '
                               'or gives it with pgrecall.grant_namespace().' END;
    ELSIF NOT is_writable THEN
        RAISE EXCEPTION 'role "%" may only read namespace "%"', pg_get_userbyid(pgrecall.session_role()), check_namespace.name
            USING ERRCODE = 'insufficient_privilege',
                  HINT = 'An administrator grants more with pgrecall.grant_namespace(role, namespace, ''write'').';
    END IF;
END
$function$;
