-- Takes the right to move the names of a namespace to other concepts until the transaction ends.
--
-- Waits for the transactions that write there, and they for this one: see _pgrecall.lock_aliases_shared. Gives up after two seconds,
-- so that one transaction that stays open cannot bring the others to a stand behind this one. Where writers follow each
-- other without a gap it may get no turn in that time.
--
-- Errors  55P03 somebody has been writing for longer than that
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
                  HINT = 'A transaction that writes there is still open. Try again when it has ended.';
END
$function$;

COMMENT ON FUNCTION _pgrecall.lock_aliases_exclusive IS
    'Takes the right to move the names of a namespace to other concepts until the transaction ends.';
