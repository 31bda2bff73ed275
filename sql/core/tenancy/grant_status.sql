-- Returns one row: the roles that can log in but see nothing, and the number of grants to dropped roles; for roles that see
-- every namespace.
--
-- Both are NULL unless the caller sees every namespace.
--
-- blind  roles that may log in and recall, but have no grant;  lost  grants whose role was dropped
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
