-- grant_status: who can log in and sees nothing, and grants of roles that are gone. One row.
--
-- To those who see every namespace only: others are told about nobody.
--
-- blind  roles that may log in and recall, but were granted no namespace;  lost  grants whose role was dropped
CREATE OR REPLACE FUNCTION pgrecall.grant_status(OUT blind text, OUT lost bigint)
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT (
               SELECT string_agg(r.rolname, ', ' ORDER BY r.rolname)
               FROM pg_roles r
               WHERE r.rolcanlogin AND NOT r.rolsuper AND pg_has_role(r.oid, 'pgrecall_reader', 'USAGE')
                 AND NOT pg_has_role(r.oid, 'pgrecall_everywhere', 'USAGE')
                 AND NOT EXISTS (
                     SELECT FROM pgrecall.grants g
                     JOIN pg_roles h ON h.oid = g.role
                     WHERE pg_has_role(r.oid, h.oid, 'USAGE')
                 )
           ),
           (SELECT count(*) FROM pgrecall.grants g WHERE NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = g.role))
    WHERE _pgrecall.sees_all();
END;

COMMENT ON FUNCTION pgrecall.grant_status IS
    'Roles that may log in and were granted no namespace, and grants of roles that are gone; for who sees every namespace.';
