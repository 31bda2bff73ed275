-- Lists the namespaces that the session's role may read, by name, and whether it may write them.
--
-- access  'read', or 'write', which includes it
CREATE OR REPLACE FUNCTION pgrecall.list_namespaces()
RETURNS TABLE (name text, access text, language text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 10
SET search_path FROM CURRENT
AS $function$
DECLARE
    -- As may_write() does, but not one by one: the list may have thousands.
    role CONSTANT regrole := pgrecall.session_role();
    writes_all CONSTANT boolean := _pgrecall.sees_all(role);
    held CONSTANT oid[] := _pgrecall.held_roles(role);
BEGIN
    RETURN QUERY
        SELECT n.name, CASE WHEN writes_all OR w.namespace_id IS NOT NULL THEN 'write' ELSE 'read' END, n.language
        FROM pgrecall.namespaces n
        LEFT JOIN (
            SELECT DISTINCT g.namespace_id FROM pgrecall.grants g WHERE g.role = ANY (held) AND g.access = 'write'
        ) w ON w.namespace_id = n.id
        ORDER BY n.name;
END
$function$;

ALTER FUNCTION pgrecall.list_namespaces OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.list_namespaces TO pgrecall_reader;
