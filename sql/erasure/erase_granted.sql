-- Runs erase() as pgrecall_engine, for a memory in a namespace that the session's role may write.
--
-- Query caches belong to the roles that asked, and postings to no tenant: no other role may delete them. The receipt
-- only counts rows derived from the memory itself.
--
-- dry_run  roll back: the receipt shows what would be deleted, and is not kept
--
-- Errors  P0002 no such memory, or not visible to this role
CREATE OR REPLACE FUNCTION _pgrecall.erase_granted(id bigint, dry_run boolean)
RETURNS pgrecall.erasures
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    asking CONSTANT regrole := pgrecall.session_role();
    home integer;
    receipt pgrecall.erasures;
BEGIN
    SELECT m.namespace_id INTO home FROM pgrecall.memories m
    WHERE m.id = erase_granted.id AND _pgrecall.sees_namespace(asking, m.namespace_id, true);
    IF home IS NULL THEN
        PERFORM _pgrecall.raise_unknown_memory(erase_granted.id);
    ELSIF dry_run IS NOT TRUE THEN
        RETURN _pgrecall.erase_memory_rows(home, erase_granted.id, asking::text);
    END IF;
    BEGIN
        receipt := _pgrecall.erase_memory_rows(home, erase_granted.id, asking::text);
        RAISE SQLSTATE 'PGR01';
    EXCEPTION
        WHEN SQLSTATE 'PGR01' THEN
            receipt.id := NULL;
    END;
    RETURN receipt;
END
$function$;

COMMENT ON FUNCTION _pgrecall.erase_granted IS
    'Runs erase() as pgrecall_engine, for a memory in a namespace that the session''s role may write.';

ALTER FUNCTION _pgrecall.erase_granted OWNER TO pgrecall_engine;
