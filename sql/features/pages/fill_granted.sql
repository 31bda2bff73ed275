-- Fills the pages of a namespace that the session's role may write, as pgrecall_engine; returns how many.
--
-- Only functions write lines. Leaves them to the daemon if a writer holds something for a quarter of a second, or in a transaction
-- with an older snapshot.
CREATE OR REPLACE FUNCTION _pgrecall.fill_granted(namespace_id integer)
RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
SET debug_print_plan = off
SET lock_timeout = '250ms'
AS $function$
BEGIN
    IF NOT _pgrecall.may_write(namespace_id) THEN
        RETURN 0;
    END IF;
    PERFORM _pgrecall.mark_pages(namespace_id);
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RETURN 0;
    END IF;
    RETURN _pgrecall.fill_pages(namespace_id);
EXCEPTION
    WHEN lock_not_available THEN
        PERFORM _pgrecall.mark_pages(namespace_id);
        RETURN 0;
END
$function$;

ALTER FUNCTION _pgrecall.fill_granted OWNER TO pgrecall_engine;
