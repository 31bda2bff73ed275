-- Takes the right to write a namespace's postings and lexicon until the transaction ends; false if another has it.
--
-- Nobody ever waits for it: whoever does not get it leaves its memories in pgrecall.unposted, where recall finds them
-- all the same. Under repeatable read the lexicon would be of yesterday, so there it is never given.
CREATE OR REPLACE FUNCTION pgrecall.lock_postings(namespace_id integer)
RETURNS boolean
LANGUAGE sql VOLATILE
RETURN current_setting('transaction_isolation') = 'read committed'
       AND pg_try_advisory_xact_lock(hashtext('pgrecall.postings'), namespace_id);

COMMENT ON FUNCTION pgrecall.lock_postings IS
    'Takes the right to write a namespace''s postings until the transaction ends; false if another transaction has it.';
