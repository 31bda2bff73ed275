-- The roles whose rights a role has: itself, and those it inherits from.
--
-- In plpgsql, since every policy asks it anew, and the plan is kept for the session.
--
-- role  NULL: the current one
CREATE OR REPLACE FUNCTION pgrecall.held_roles(role regrole DEFAULT NULL)
RETURNS oid[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    holder CONSTANT regrole := COALESCE(held_roles.role, quote_ident(current_user)::regrole);
BEGIN
    RETURN (
        WITH RECURSIVE held (id) AS (
            SELECT holder::oid
            UNION
            SELECT m.roleid FROM held h JOIN pg_auth_members m ON m.member = h.id
        )
        SELECT array_agg(h.id) FROM held h WHERE pg_has_role(holder, h.id, 'USAGE')
    );
END
$function$;

COMMENT ON FUNCTION pgrecall.held_roles IS 'The roles whose rights a role has: itself, and those it inherits from.';
