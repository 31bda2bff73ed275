-- Serializes imports into the same namespaces, and supersede() by memories that are themselves superseded: waits until earlier
-- transactions have ended.
--
-- Locks a row of pgrecall.locks, which only pgrecall's functions can lock.
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
