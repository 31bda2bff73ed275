-- Takes the right to write a namespace's postings until the transaction ends, and waits for it, unlike try_lock_postings().
--
-- To be called before any row is locked: who has it may be waiting for one.
--
-- Errors  55000 not under read committed;  55P03 somebody has had it for longer than ten seconds
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
                  HINT = 'An older snapshot would not see all that is to go. Use a transaction of that level.';
    END IF;
    PERFORM FROM pgrecall.locks l WHERE l.home = lock_postings.namespace_id AND l.name = 'postings' FOR UPDATE;
EXCEPTION
    WHEN lock_not_available THEN
        RAISE EXCEPTION 'the postings of namespace % are in use', namespace_id
            USING ERRCODE = 'lock_not_available',
                  HINT = 'A transaction that writes there is still open. Try again when it has ended.';
END
$function$;

COMMENT ON FUNCTION _pgrecall.lock_postings IS
    'Takes the right to write a namespace''s postings until the transaction ends; waits for it.';
