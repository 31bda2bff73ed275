-- erase_namespace() with the owner's rights, for a session's role that sees every namespace.
--
-- dry_run  do it, and take it back: the receipt says what would go, and is not kept
--
-- Errors  42501 a role that does not see every namespace;  42704 no such namespace
CREATE OR REPLACE FUNCTION pgrecall.erase_namespace_granted(namespace text, dry_run boolean)
RETURNS pgrecall.erasures
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    asking CONSTANT regrole := pgrecall.session_role();
    home integer;
    receipt pgrecall.erasures;
BEGIN
    IF NOT pgrecall.sees_all() THEN
        RAISE EXCEPTION 'role "%" may not erase namespaces', asking
            USING ERRCODE = 'insufficient_privilege',
                  HINT = 'An administrator erases it with erase_namespace(). Single memories are erased with erase().';
    END IF;
    SELECT n.id INTO home FROM pgrecall.namespaces n WHERE n.name = erase_namespace_granted.namespace;
    IF home IS NULL THEN
        RAISE EXCEPTION 'there is no namespace "%"', COALESCE(left(erase_namespace_granted.namespace, 200), 'NULL')
            USING ERRCODE = 'undefined_object', HINT = 'Check the name.';
    ELSIF dry_run IS NOT TRUE THEN
        RETURN pgrecall.erase_whole(home, asking::text);
    END IF;
    BEGIN
        receipt := pgrecall.erase_whole(home, asking::text);
        RAISE SQLSTATE 'PGR01';
    EXCEPTION
        WHEN SQLSTATE 'PGR01' THEN
            receipt.id := NULL;
    END;
    RETURN receipt;
END
$function$;

COMMENT ON FUNCTION pgrecall.erase_namespace_granted IS
    'erase_namespace() with the owner''s rights, for a session''s role that sees every namespace.';

ALTER FUNCTION pgrecall.erase_namespace_granted OWNER TO pgrecall_engine;
