-- Lets a role, and its members, read a namespace ('read'), or read and write it ('write').
--
-- A role sees only the namespaces granted to it. A member of pgrecall_everywhere sees all of them without a grant.
-- pgrecall_reader or pgrecall_writer determines what the role may do there.
--
-- access  'read', or 'write', which includes it; a second grant replaces the first
--
-- Errors  42704 no such role, or no such namespace;  22023 another access
CREATE OR REPLACE FUNCTION pgrecall.grant_namespace(role text, namespace text, access text DEFAULT 'read')
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
SET debug_print_plan = off
AS $function$
DECLARE
    needed CONSTANT text := CASE access WHEN 'read' THEN 'pgrecall_reader' WHEN 'write' THEN 'pgrecall_writer' END;
    about record;
BEGIN
    IF needed IS NULL THEN
        RAISE EXCEPTION 'access cannot be %', COALESCE(quote_literal(left(grant_namespace.access, 80)), 'NULL')
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Grant ''read'' or ''write''.';
    END IF;
    SELECT c.* INTO about FROM _pgrecall.check_grantee(grant_namespace.role, grant_namespace.namespace) c;
    INSERT INTO pgrecall.grants AS g (namespace_id, role, access)
    VALUES (about.namespace_id, about.role_id, grant_namespace.access)
    ON CONFLICT ON CONSTRAINT grants_pkey DO UPDATE SET access = excluded.access, granted_at = excluded.granted_at
        WHERE g.access <> excluded.access;
    IF NOT pg_has_role(about.role_id, needed, 'USAGE') THEN
        RAISE NOTICE 'role % is not a member of % yet', about.role_id, needed
            USING HINT = format('GRANT %s TO %s;', needed, about.role_id);
    END IF;
END
$function$;

ALTER FUNCTION pgrecall.grant_namespace OWNER TO pgrecall_engine;
