-- Returns the statements that make, on another server, the roles that a dump of this database refers to.
--
-- They are the owners, those with privileges or policies, those that are granted a namespace or have a cached query, and
-- every role that one of them is a member of, with these memberships. Without passwords. A role that exists is kept. No
-- list: the catalog knows them.
CREATE OR REPLACE FUNCTION pgrecall.role_statements()
RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL SAFE ROWS 20
BEGIN ATOMIC
    WITH RECURSIVE needed (id) AS (
        SELECT u.id
        FROM (
            SELECT d.refobjid FROM pg_shdepend d JOIN pg_database b ON b.oid = d.dbid
            WHERE b.datname = current_database() AND d.refclassid = 'pg_authid'::regclass
            UNION ALL
            SELECT g.role::oid FROM pgrecall.grants g
            UNION ALL
            SELECT q.role::oid FROM pgrecall.query_embeddings q
            UNION ALL
            SELECT e.role::oid FROM pgrecall.query_expansions e
        ) u (id)
        UNION
        SELECT m.roleid FROM needed n JOIN pg_auth_members m ON m.member = n.id
    )
    SELECT s.statement
    FROM (
        -- %L and not a dollar quote: a role's name may contain anything.
        SELECT 1, r.rolname, '', format('DO %L;', format(
                   'BEGIN CREATE ROLE %I %s %s; EXCEPTION WHEN duplicate_object THEN NULL; END', r.rolname,
                   CASE WHEN r.rolcanlogin THEN 'LOGIN' ELSE 'NOLOGIN' END, CASE WHEN r.rolinherit THEN 'INHERIT' ELSE 'NOINHERIT' END
               ))
        FROM pg_roles r WHERE r.oid IN (SELECT n.id FROM needed n) AND NOT r.rolname ^@ 'pg_' AND NOT r.rolsuper
        UNION ALL
        SELECT 2, h.rolname, r.rolname, format('GRANT %I TO %I;', h.rolname, r.rolname)
        FROM pg_auth_members m
        JOIN pg_roles h ON h.oid = m.roleid
        JOIN pg_roles r ON r.oid = m.member
        WHERE m.member IN (SELECT n.id FROM needed n) AND NOT r.rolname ^@ 'pg_' AND NOT r.rolsuper
    ) s (place, name, member, statement)
    GROUP BY s.place, s.name, s.member, s.statement
    ORDER BY s.place, s.name, s.member;
END;
