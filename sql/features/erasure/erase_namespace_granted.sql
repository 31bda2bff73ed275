-- Runs erase_namespace() as pgrecall_engine, for a role that sees every namespace.
--
-- dry_run  roll back: the receipt shows what would be deleted, and is not kept
--
-- Errors  42501 the role does not see every namespace;  42704 no such namespace
CREATE OR REPLACE FUNCTION _pgrecall.erase_namespace_granted(namespace_id integer, dry_run boolean)
RETURNS pgrecall.erasures
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
SET debug_print_plan = off
AS $function$
DECLARE
    asking CONSTANT regrole := pgrecall.session_role();
    receipt pgrecall.erasures;
BEGIN
    IF NOT _pgrecall.sees_all() THEN
        RAISE EXCEPTION 'role "%" may not erase namespaces', asking
            USING ERRCODE = 'insufficient_privilege',
                  HINT = 'An administrator erases it with erase_namespace(). Single memories are erased with erase().';
    ELSIF dry_run IS NOT TRUE THEN
        RETURN _pgrecall.erase_namespace_rows(erase_namespace_granted.namespace_id, asking::text);
    END IF;
    BEGIN
        receipt := _pgrecall.erase_namespace_rows(erase_namespace_granted.namespace_id, asking::text);
        RAISE SQLSTATE 'PGR01';
    EXCEPTION
        WHEN SQLSTATE 'PGR01' THEN
            receipt.id := NULL;
    END;
    RETURN receipt;
END
$function$;

ALTER FUNCTION _pgrecall.erase_namespace_granted OWNER TO pgrecall_engine;
