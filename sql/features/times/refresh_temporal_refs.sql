-- Finds the times that memories of a namespace mention, as the trigger does, 1,000 memories per transaction.
--
-- Use it for memories stored before pgrecall looked for times, and after an upgrade that finds more. What a daemon has read keeps its
-- times: pgrecall.reextract() has it read again. Writes and recalls continue meanwhile.
--
-- namespace  NULL: every namespace
--
-- Errors  42704 no such namespace
CREATE OR REPLACE PROCEDURE pgrecall.refresh_temporal_refs(namespace text DEFAULT NULL)
LANGUAGE plpgsql
AS $procedure$
DECLARE
    size CONSTANT integer := 1000;
    done bigint := 0::bigint;
    ids bigint[];
BEGIN
    -- A procedure that commits cannot have a SET clause.
    SET LOCAL search_path = pg_catalog, pgrecall, pg_temp;
    IF namespace IS NOT NULL THEN
        PERFORM _pgrecall.check_namespace(namespace, false);
    END IF;
    LOOP
        COMMIT;
        SET LOCAL search_path = pg_catalog, pgrecall, pg_temp;
        -- Locked, so that no writer changes a text before its times are stored.
        SELECT array_agg(l.id), max(l.id) INTO ids, done
        FROM (
            SELECT m.id
            FROM pgrecall.memories m
            WHERE m.id > done AND (
                refresh_temporal_refs.namespace IS NULL
                OR m.namespace_id = pgrecall.namespace_id(refresh_temporal_refs.namespace)
            )
            ORDER BY m.id
            LIMIT size
            FOR NO KEY UPDATE
        ) l;
        EXIT WHEN ids IS NULL;
        ids := ARRAY(
            SELECT u.id FROM unnest(ids) u (id)
            WHERE NOT EXISTS (SELECT FROM pgrecall.extractions x WHERE x.memory_id = u.id AND x.enricher = 'text')
        );
        DELETE FROM pgrecall.temporal_refs r WHERE r.memory_id = ANY (ids);
        PERFORM _pgrecall.store_temporal_refs(ids);
    END LOOP;
END
$procedure$;
