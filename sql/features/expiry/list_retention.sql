-- Returns how long memories are kept, for each namespace and category with a rule, in the namespaces that the session's
-- role may read, and how many are due.
--
-- due  memories that are older, and not forgotten or erased yet
CREATE OR REPLACE FUNCTION pgrecall.list_retention()
RETURNS TABLE (namespace text, category text, keep interval, action text, due bigint)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 10
SET search_path FROM CURRENT
AS $function$
#variable_conflict use_column
BEGIN
    RETURN QUERY
        SELECT n.name, r.category, r.keep, r.action,
               (SELECT count(*) FROM _pgrecall.outdated_memories(r, NULL) o)
        FROM pgrecall.retention r
        JOIN pgrecall.namespaces n ON n.id = r.namespace_id
        ORDER BY n.name, r.category NULLS FIRST;
END
$function$;

ALTER FUNCTION pgrecall.list_retention OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.list_retention TO pgrecall_reader;
