-- Takes the lock for writing relationships of the given namespaces until the transaction ends.
--
-- Validity follows from all statements about a subject, by any writer: two concurrent writers would both miss a
-- contradiction between them. Take it after _pgrecall.lock_aliases_shared or lock_aliases_exclusive, and before locking
-- an alias or a row of pgrecall.extractions: a transaction that removes evidence may wait for those while it holds this
-- lock.
CREATE OR REPLACE FUNCTION _pgrecall.lock_relationships(namespace_ids integer[])
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
BEGIN
    PERFORM FROM pgrecall.locks l WHERE l.home = ANY (namespace_ids) AND l.name = 'facts' ORDER BY l.home FOR UPDATE;
END
$function$;
