-- Keeps the names of a namespace where they are until the transaction ends; any number of writers do so at a time.
--
-- Taken before a mention, a name or a relationship is touched. A merge moves names, and with them rows that writers have
-- locked in an order of their own: what they lock one by one cannot be put in an order with it, so they take turns.
CREATE OR REPLACE FUNCTION pgrecall.share_names(namespace_id integer)
RETURNS void
LANGUAGE sql VOLATILE
RETURN pg_advisory_xact_lock_shared(hashtext('pgrecall.names'), namespace_id);

COMMENT ON FUNCTION pgrecall.share_names IS
    'Keeps the names of a namespace from being moved to other concepts until the transaction ends.';
