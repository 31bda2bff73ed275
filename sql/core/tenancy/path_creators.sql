-- Returns the roles that may create objects in a schema on the search_path of pgrecall's functions; for roles that see
-- every namespace.
--
-- An operator or function created there could shadow the intended one and run with the caller's rights. pgrecall's
-- owner and superusers are left out. NULL: none, or the caller does not see every namespace.
CREATE OR REPLACE FUNCTION pgrecall.path_creators()
RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED
BEGIN ATOMIC
    SELECT string_agg(format('%s in %I', w.creator, w.schema_name), ', ' ORDER BY w.schema_name, w.creator)
    FROM (
        SELECT 'PUBLIC' AS creator, n.nspname AS schema_name, n.oid AS schema_id, 0::oid AS role_id FROM pg_namespace n
        UNION ALL
        SELECT quote_ident(r.rolname), n.nspname, n.oid, r.oid
        FROM pg_namespace n CROSS JOIN pg_roles r
        -- PUBLIC is listed once; predefined roles appear through their members.
        WHERE NOT r.rolsuper AND r.rolname !~ '^pg_' AND NOT has_schema_privilege('public', n.oid, 'CREATE')
          AND r.oid <> (SELECT c.relowner FROM pg_class c WHERE c.oid = 'pgrecall.installation'::regclass)
    ) w
    -- By OID (that of PUBLIC is 0): a role that is dropped meanwhile has no privilege; a name that is gone would be an error.
    WHERE has_schema_privilege(w.role_id, w.schema_id, 'CREATE')
      AND w.schema_name IN (
          SELECT btrim(s.name, ' "')
          FROM pg_proc p
          CROSS JOIN unnest(p.proconfig) c (setting)
          CROSS JOIN LATERAL string_to_table(substr(c.setting, 13), ',') s (name)
          WHERE p.pronamespace IN ('pgrecall'::regnamespace, '_pgrecall'::regnamespace) AND c.setting LIKE 'search_path=%'
          UNION ALL
          SELECT 'pgrecall'
      )
      AND _pgrecall.sees_all();
END;
