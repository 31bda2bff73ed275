-- Rebuilds postings and document frequencies, one namespace per transaction.
--
-- Use it for repair, or to defragment the blocks of a large namespace. Writes and recalls continue meanwhile.
--
-- namespace  NULL: every namespace
--
-- Errors  42704 no such namespace
CREATE OR REPLACE PROCEDURE pgrecall.rebuild_all_postings(namespace text DEFAULT NULL)
LANGUAGE plpgsql
AS $procedure$
DECLARE
    ids integer[];
    id integer;
BEGIN
    -- A procedure that commits cannot have a SET clause.
    SET LOCAL search_path = pg_catalog, pgrecall, pg_temp;
    IF namespace IS NOT NULL THEN
        PERFORM _pgrecall.check_namespace(namespace, false);
    END IF;
    SELECT array_agg(n.id ORDER BY n.id) INTO ids
    FROM pgrecall.namespaces n
    WHERE rebuild_all_postings.namespace IS NULL OR n.name = rebuild_all_postings.namespace;
    FOREACH id IN ARRAY ids LOOP
        LOOP
            COMMIT;
            SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
            SET LOCAL search_path = pg_catalog, pgrecall, pg_temp;
            EXIT WHEN _pgrecall.rebuild_postings(id);
            PERFORM pg_sleep(0.1);
        END LOOP;
    END LOOP;
END
$procedure$;
