-- Has imports to the same namespaces take turns: waits until the transactions that came before have ended.
--
-- With its owner's rights: the lock is a row that nobody else can lock (pgrecall.locks). Namespaces that the session's role may
-- not write to are left out.
CREATE OR REPLACE FUNCTION pgrecall.take_turns(namespace_ids integer[])
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
BEGIN
    PERFORM FROM pgrecall.locks l
    WHERE l.home = ANY (ARRAY(SELECT u.id FROM unnest(namespace_ids) u (id) WHERE pgrecall.may_lock(u.id))) AND l.name = 'imports'
    ORDER BY l.home
    FOR UPDATE;
END
$function$;

COMMENT ON FUNCTION pgrecall.take_turns IS 'Has imports to the same namespaces take turns: waits for those before.';
