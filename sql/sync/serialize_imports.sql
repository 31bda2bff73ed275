-- Has imports to the same namespaces take turns: waits until the transactions that came before have ended.
--
-- The lock is a row that only functions of pgrecall can lock (pgrecall.locks).
CREATE OR REPLACE FUNCTION _pgrecall.serialize_imports(namespace_ids integer[])
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
BEGIN
    PERFORM FROM pgrecall.locks l
    WHERE l.home = ANY (namespace_ids) AND l.name = 'imports'
    ORDER BY l.home
    FOR UPDATE;
END
$function$;

COMMENT ON FUNCTION _pgrecall.serialize_imports IS 'Has imports to the same namespaces take turns: waits for those before.';
