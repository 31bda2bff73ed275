-- Raises an error: the session has set a role of this name, and is no member of the role that has the name now.
--
-- PostgreSQL keeps the name that SET ROLE was given. After ALTER ROLE … RENAME another role may have it.
--
-- Errors  42501
CREATE OR REPLACE FUNCTION _pgrecall.refuse_role(name text)
RETURNS regrole
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
BEGIN
    RAISE EXCEPTION 'role "%", which this session has set, is now another role or is no longer granted to "%"', name, session_user
        USING ERRCODE = 'insufficient_privilege', HINT = 'RESET ROLE, and name the role as it is called now.';
END
$function$;
