-- Lists the namespaces that the session's role may read, by name, and whether it may write them.
--
-- access  'read', or 'write', which includes it
CREATE OR REPLACE FUNCTION pgrecall.list_namespaces()
RETURNS TABLE (name text, access text, language text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 10
SET search_path FROM CURRENT
AS $function$
BEGIN
    RETURN QUERY
        SELECT n.name, CASE WHEN _pgrecall.may_write(n.id) THEN 'write' ELSE 'read' END, n.language
        FROM pgrecall.namespaces n
        ORDER BY n.name;
END
$function$;

ALTER FUNCTION pgrecall.list_namespaces OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.list_namespaces TO pgrecall_reader;
