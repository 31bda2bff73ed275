-- Locks a namespace's postings for writing until the transaction ends. Waits for the lock, unlike try_lock_postings().
--
-- Call it before locking any row: the current holder may be waiting for one.
--
-- Errors  55000 not under read committed;  55P03 another transaction has held the lock for more than ten seconds
CREATE OR REPLACE FUNCTION _pgrecall.lock_postings(namespace_id integer)
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
SET lock_timeout = '10s'
AS $function$
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'erasure needs the isolation level read committed'
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = 'An older snapshot would miss rows that must be erased. Run it in a READ COMMITTED transaction.';
    END IF;
    PERFORM FROM pgrecall.locks l WHERE l.home = lock_postings.namespace_id AND l.name = 'postings' FOR UPDATE;
EXCEPTION
    WHEN lock_not_available THEN
        RAISE EXCEPTION 'the postings of namespace % are in use', namespace_id
            USING ERRCODE = 'lock_not_available',
                  HINT = 'Another transaction is still writing to it. Try again when it has ended.';
END
$function$;
