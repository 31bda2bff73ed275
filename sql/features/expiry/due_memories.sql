-- Returns memories that are due to be forgotten or erased: their expires_at has come, or a retention rule says so.
--
-- In PL/pgSQL, so that recall_status() does not plan it where there is no rule.
--
-- max_results  of each kind; NULL: all
-- action       'forget' or 'erase': that of the namespace's rule, for the category if there is one
CREATE OR REPLACE FUNCTION _pgrecall.due_memories(max_results integer)
RETURNS TABLE (id bigint, namespace_id integer, action text)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
#variable_conflict use_column
BEGIN
    RETURN QUERY
        SELECT e.id, e.namespace_id, COALESCE(r.action, 'forget')
        FROM (
            SELECT m.id, m.namespace_id, m.category
            FROM pgrecall.memories m
            WHERE m.expires_at <= now() AND m.deleted_at IS NULL
            ORDER BY m.expires_at
            LIMIT max_results
        ) e
        LEFT JOIN LATERAL (
            SELECT t.action FROM pgrecall.retention t
            WHERE t.namespace_id = e.namespace_id AND (t.category = e.category OR t.category IS NULL)
            ORDER BY t.category NULLS LAST
            LIMIT 1
        ) r ON true
        UNION
        SELECT o.id, r.namespace_id, r.action
        FROM pgrecall.retention r
        CROSS JOIN LATERAL _pgrecall.outdated_memories(r, max_results) o;
END
$function$;
