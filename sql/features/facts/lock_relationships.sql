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
DECLARE
    namespace_id integer;
BEGIN
    FOR namespace_id IN SELECT DISTINCT u.id FROM unnest(namespace_ids) u (id) ORDER BY u.id LOOP
        PERFORM FROM pgrecall.locks l WHERE l.home = namespace_id AND l.name = 'facts' FOR UPDATE;
    END LOOP;
END
$function$;
