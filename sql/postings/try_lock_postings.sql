-- Takes the right to write a namespace's postings and lexicon until the transaction ends; false if another has it.
--
-- Nobody ever waits for it: whoever does not get it leaves its memories in pgrecall.pending_postings, where recall finds them
-- all the same. Under repeatable read the lexicon would be of yesterday, so there it is never given. Only functions that run
-- with their owner's rights come here: the lock is a row that nobody else can lock (pgrecall.locks).
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

COMMENT ON FUNCTION _pgrecall.try_lock_postings IS
    'Takes the right to write a namespace''s postings until the transaction ends; false if another transaction has it.';
