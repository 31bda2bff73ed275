-- Takes the shared lock on the aliases of namespaces until the transaction ends. Writers share it.
--
-- Take it before touching a mention, an alias or a relationship. A merge moves aliases, and with them rows that writers
-- lock one by one in their own order; no common lock order exists, so writers and merges take turns. The lock is a row
-- in pgrecall.locks that only functions of pgrecall can lock, and only for roles that may write to the namespace.
CREATE OR REPLACE FUNCTION _pgrecall.lock_aliases_shared(namespace_ids integer[])
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
BEGIN
    PERFORM FROM pgrecall.locks l
    WHERE l.home = ANY (namespace_ids) AND l.name = 'names'
    ORDER BY l.home
    FOR SHARE;
END
$function$;
