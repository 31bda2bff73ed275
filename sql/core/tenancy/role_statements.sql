-- Returns the statements that make, on another server, the roles that a dump of this database refers to.
--
-- They are the owners, those with privileges or policies, those that are granted a namespace or have a cached query, and
-- every role that one of them is a member of, with these memberships. Without passwords, settings (setting_statements) and the right to
-- grant a role to others. A role that exists is kept. No list: the catalog knows them.
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
        SELECT 2, h.rolname, r.rolname, format('GRANT %I TO %I%s;', h.rolname, r.rolname, CASE
                   WHEN o.inherits AND o.sets AND r.rolinherit OR o.sets AND NOT o.inherits AND NOT r.rolinherit THEN ''
                   ELSE format(' WITH INHERIT %s, SET %s', o.inherits::text, o.sets::text)
               END)
        FROM (
            SELECT m.roleid, m.member, bool_or((to_jsonb(m) ->> 'inherit_option')::boolean) AS inherits,
                   bool_or((to_jsonb(m) ->> 'set_option')::boolean) AS sets
            FROM pg_auth_members m
            WHERE m.member IN (SELECT n.id FROM needed n)
            GROUP BY m.roleid, m.member
        ) m
        JOIN pg_roles h ON h.oid = m.roleid
        JOIN pg_roles r ON r.oid = m.member
        -- Before PostgreSQL 16 a membership has no options.
        CROSS JOIN LATERAL (SELECT COALESCE(m.inherits, r.rolinherit) AS inherits, COALESCE(m.sets, true) AS sets) o
        WHERE NOT r.rolname ^@ 'pg_' AND NOT r.rolsuper AND (o.inherits OR o.sets)
    ) s (place, name, member, statement)
    ORDER BY s.place, s.name, s.member;
END;
