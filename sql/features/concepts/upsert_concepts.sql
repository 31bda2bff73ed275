-- Creates missing concepts for names, locks them until commit, and removes names that nothing mentions any more.
-- Returns how many names it has made.
--
-- A name that already belongs to a concept creates none. Names are processed in one pass, ordered by namespace and
-- name, so that writers that share names wait and do not deadlock. Until commit:
--   * A name in use can be neither removed nor moved to another concept (FOR KEY SHARE: any number of writers at a
--     time).
--   * Only one transaction at a time can release a name (FOR NO KEY UPDATE). The last one sees that nothing is left,
--     and waits for writers that have just used the name (FOR UPDATE) before removing it.
-- The caller holds _pgrecall.lock_aliases_shared on those namespaces.
--
-- named  names about to be mentioned
-- lost   names that lost a mention or a relationship
CREATE OR REPLACE FUNCTION _pgrecall.upsert_concepts(named pgrecall.naming[], lost pgrecall.naming[] DEFAULT '{}')
RETURNS integer
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    item record;
    made bigint;
    fresh integer := 0;
    owner bigint;
    owners bigint[] := '{}'::bigint[];
    gone text[] := '{}'::text[];
BEGIN
    FOR item IN
        SELECT n.namespace_id, n.alias, min(n.name) AS name, bool_or(n.is_named) AS is_named
        FROM (
            SELECT w.namespace_id, w.alias, w.name, true AS is_named FROM unnest(named) w
            UNION ALL
            SELECT l.namespace_id, l.alias, l.name, false FROM unnest(lost) l
        ) n
        GROUP BY n.namespace_id, n.alias
        ORDER BY n.namespace_id, n.alias COLLATE "C"
    LOOP
        IF NOT item.is_named THEN
            owner := _pgrecall.remove_orphan_alias(item.namespace_id, item.alias);
            IF owner IS NOT NULL THEN
                owners := owners || owner;
                gone := gone || item.alias;
            END IF;
            CONTINUE;
        END IF;
        LOOP
            PERFORM FROM pgrecall.concept_aliases a
            WHERE a.namespace_id = item.namespace_id AND a.alias = item.alias
            FOR KEY SHARE;
            EXIT WHEN FOUND;
            INSERT INTO pgrecall.concepts AS c (namespace_id, key, name) VALUES (item.namespace_id, item.alias, item.name)
            RETURNING c.id INTO made;
            INSERT INTO pgrecall.concept_aliases (namespace_id, alias, concept_id, name)
            VALUES (item.namespace_id, item.alias, made, item.name)
            ON CONFLICT DO NOTHING;
            IF FOUND THEN
                fresh := fresh + 1;
                EXIT;
            END IF;
            -- Another writer has just created the name: read it again.
            DELETE FROM pgrecall.concepts c WHERE c.id = made;
        END LOOP;
    END LOOP;
    FOR owner IN SELECT DISTINCT o.id FROM unnest(owners) o (id) ORDER BY o.id LOOP
        PERFORM _pgrecall.repair_concept(owner, gone);
    END LOOP;
    RETURN fresh;
END
$function$;
