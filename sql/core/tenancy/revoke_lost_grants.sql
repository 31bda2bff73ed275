-- Revokes the grants of roles that were dropped. Returns how many there were. Administrators only.
--
-- Nobody has such a grant: a role that is created again has another oid.
CREATE OR REPLACE FUNCTION pgrecall.revoke_lost_grants()
RETURNS bigint
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
SET debug_print_plan = off
BEGIN ATOMIC
    WITH lost AS (
        DELETE FROM pgrecall.grants g WHERE NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = g.role) RETURNING g.role
    )
    SELECT count(*) FROM lost;
END;

ALTER FUNCTION pgrecall.revoke_lost_grants OWNER TO pgrecall_engine;
