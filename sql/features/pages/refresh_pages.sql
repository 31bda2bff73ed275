-- Fills the pages of one namespace that are behind; returns how many pages it filled, 0 if there is nothing to do.
--
-- The daemon calls it in the background until it returns 0. A namespace is due when its first change since the last filling is older
-- than the setting page_delay, or when a line is over. So a namespace is filled at most once in that time, however much is written
-- to it, and the namespaces that are due take turns at random. One in which a writer holds something for a tenth of a second is left
-- for the next call.
--
-- A new page is filled once more after a minute: a writer that could not see it yet has noted nothing. And each is filled once a day,
-- since what is to come becomes what was.
--
-- Errors  55000 not under read committed
CREATE OR REPLACE FUNCTION pgrecall.refresh_pages()
RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
SET debug_print_plan = off
SET lock_timeout = '100ms'
AS $function$
DECLARE
    delay CONSTANT interval := pgrecall.stored_setting('page_delay')::interval;
    home integer;
    filled integer;
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'filling pages needs the isolation level read committed'
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = 'An older snapshot would miss what was withdrawn meanwhile. Run it in a READ COMMITTED transaction.';
    END IF;
    FOR home IN
        SELECT d.id
        FROM (
            SELECT c.namespace_id AS id FROM pgrecall.page_changes c WHERE NOT _pgrecall.is_recent(c.changed_at, delay)
            UNION
            SELECT l.namespace_id FROM pgrecall.page_lines l WHERE l.valid_until <= now()
            UNION
            SELECT p.namespace_id FROM pgrecall.pages p
            WHERE p.refreshed_at IS NULL OR p.refreshed_at < now() - interval '1 day'
               OR p.refreshed_at < p.made_at + interval '1 minute' AND p.made_at < now() - interval '1 minute'
        ) d
        WHERE EXISTS (
            SELECT FROM pgrecall.pages p
            WHERE p.namespace_id = d.id AND (p.refreshed_at IS NULL OR NOT _pgrecall.is_recent(p.refreshed_at, delay))
        )
        ORDER BY random()
    LOOP
        BEGIN
            filled := _pgrecall.fill_pages(home);
        EXCEPTION
            WHEN lock_not_available THEN
                CONTINUE;
        END;
        IF filled > 0 THEN
            RETURN filled;
        END IF;
    END LOOP;
    RETURN 0;
END
$function$;

ALTER FUNCTION pgrecall.refresh_pages OWNER TO pgrecall_engine;

GRANT EXECUTE ON FUNCTION pgrecall.refresh_pages TO pgrecall_embedder;
