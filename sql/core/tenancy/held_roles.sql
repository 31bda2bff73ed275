-- Returns the roles whose rights a role has: itself, and those it inherits from.
--
-- Written in plpgsql, because every policy calls it and the session keeps its plan.
CREATE OR REPLACE FUNCTION _pgrecall.held_roles(role regrole)
RETURNS oid[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
BEGIN
    RETURN (
        WITH RECURSIVE held (id) AS (
            SELECT held_roles.role::oid
            UNION
            SELECT m.roleid FROM held h JOIN pg_auth_members m ON m.member = h.id
        )
        SELECT array_agg(h.id) FROM held h WHERE pg_has_role(held_roles.role, h.id, 'USAGE')
    );
END
$function$;
