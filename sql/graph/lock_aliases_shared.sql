-- Keeps the names of a namespace where they are until the transaction ends; any number of writers do so at a time.
--
-- Taken before a mention, a name or a relationship is touched. A merge moves names, and with them rows that writers have
-- locked in an order of their own: what they lock one by one cannot be put in an order with it, so they take turns. The lock
-- is a row that only functions of pgrecall can lock (pgrecall.locks), and only for roles that may write there.
CREATE OR REPLACE FUNCTION _pgrecall.lock_aliases_shared(namespace_id integer)
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
BEGIN
    PERFORM FROM pgrecall.locks l
    WHERE l.home = lock_aliases_shared.namespace_id AND l.name = 'names'
    FOR SHARE;
END
$function$;

COMMENT ON FUNCTION _pgrecall.lock_aliases_shared IS
    'Keeps the names of a namespace from being moved to other concepts until the transaction ends.';
