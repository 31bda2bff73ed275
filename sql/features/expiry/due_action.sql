-- Returns what is due for a memory: 'forget' or 'erase', or NULL as long as it is kept.
--
-- Its expires_at has come, or the retention rule of its category, else of its namespace, says so. Forgotten memories are due
-- only to be erased. expire_memories() asks it about the row that it has locked.
CREATE OR REPLACE FUNCTION _pgrecall.due_action(
    namespace_id integer, category text, created_at timestamptz, expires_at timestamptz, deleted_at timestamptz
)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    rule pgrecall.retention;
BEGIN
    SELECT r.* INTO rule FROM pgrecall.retention r
    WHERE r.namespace_id = due_action.namespace_id AND (r.category = due_action.category OR r.category IS NULL)
    ORDER BY r.category NULLS LAST
    LIMIT 1;
    RETURN CASE
        WHEN due_action.created_at < now() - rule.keep AND (due_action.deleted_at IS NULL OR rule.action = 'erase') THEN rule.action
        WHEN due_action.expires_at <= now() AND due_action.deleted_at IS NULL THEN COALESCE(rule.action, 'forget')
    END;
END
$function$;
