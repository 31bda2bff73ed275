-- Locks a namespace until the transaction ends, for a role that may write there: calls that replace something of it take turns.
--
-- A row that is replaced cannot serve: who waited for the old one does not see the new one, and would go on without it. Writers of
-- memories share the namespace with this lock; an erasure of the namespace does not. SECURITY DEFINER: roles that may write memories
-- may not change a namespace.
--
-- Errors  42704 another session has erased the namespace
CREATE OR REPLACE FUNCTION _pgrecall.lock_namespace(namespace_id integer)
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
SET debug_print_plan = off
AS $function$
BEGIN
    IF NOT _pgrecall.may_write(namespace_id) THEN
        RETURN;
    END IF;
    PERFORM FROM pgrecall.namespaces n WHERE n.id = lock_namespace.namespace_id FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no namespace % any more', namespace_id
            USING ERRCODE = 'undefined_object', HINT = 'Another session has erased it.';
    END IF;
END
$function$;

ALTER FUNCTION _pgrecall.lock_namespace OWNER TO pgrecall_engine;
