-- Locks a namespace's postings and lexicon for writing until the transaction ends; false if another transaction has the lock.
--
-- Nobody waits for it: a writer without the lock leaves its memories in pgrecall.pending_postings, where recall still
-- finds them. Under repeatable read the lexicon would be stale, so the lock is never granted there. The lock is a row
-- of pgrecall.locks that only functions with their owner's rights can lock.
CREATE OR REPLACE FUNCTION _pgrecall.try_lock_postings(namespace_id integer)
RETURNS boolean
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RETURN false;
    END IF;
    PERFORM FROM pgrecall.locks l WHERE l.home = try_lock_postings.namespace_id AND l.name = 'postings' FOR UPDATE SKIP LOCKED;
    RETURN FOUND;
END
$function$;
