-- Takes the exclusive lock on a namespace's aliases until the transaction ends, to move names between concepts.
--
-- It waits for transactions that write to the namespace, and they wait for it: see _pgrecall.lock_aliases_shared. It
-- gives up after two seconds, so that one long transaction cannot block all writers queued behind this lock. Under
-- continuous writes it may not get the lock in that time.
--
-- Errors  55P03 another transaction held the lock for longer than that
CREATE OR REPLACE FUNCTION _pgrecall.lock_aliases_exclusive(namespace_id integer)
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
SET lock_timeout = '2s'
AS $function$
BEGIN
    PERFORM FROM pgrecall.locks l
    WHERE l.home = lock_aliases_exclusive.namespace_id AND l.name = 'names'
    FOR UPDATE;
EXCEPTION
    WHEN lock_not_available THEN
        RAISE EXCEPTION 'the names of namespace % are in use', namespace_id
            USING ERRCODE = 'lock_not_available',
                  HINT = 'A transaction is writing to this namespace. Try again when it has ended.';
END
$function$;
