-- Notes that something has changed that the pages of a namespace may rest on. Does nothing in a namespace without pages.
--
-- One note is enough, whoever wrote it: a writer that finds one holds it until it ends, so that fill_pages() leaves it. Otherwise it
-- adds one. No writer waits for another, and there are at most as many notes as writers at the same time. A writer with an older
-- snapshot (REPEATABLE READ) always adds one: to hold a note that has been removed meanwhile would fail.
CREATE OR REPLACE FUNCTION _pgrecall.mark_pages(namespace_id integer)
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
BEGIN
    IF NOT EXISTS (SELECT FROM pgrecall.pages p WHERE p.namespace_id = mark_pages.namespace_id) THEN
        RETURN;
    ELSIF current_setting('transaction_isolation') = 'read committed' THEN
        PERFORM FROM pgrecall.page_changes c WHERE c.namespace_id = mark_pages.namespace_id LIMIT 1 FOR KEY SHARE SKIP LOCKED;
        IF FOUND THEN
            RETURN;
        END IF;
    END IF;
    INSERT INTO pgrecall.page_changes (namespace_id, ticket, changed_at)
    VALUES (mark_pages.namespace_id, _pgrecall.random_ticket(), clock_timestamp());
END
$function$;
