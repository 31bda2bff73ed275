-- Locks the names that some memories mention, and others that are about to be mentioned, in one pass, before the memories are
-- changed one by one. Returns the names that it has made.
--
-- A change of one memory locks its names in their order (upsert_concepts). Several memories in turn would lock names in
-- no order, and deadlock with a writer that waits for one of them. The locks are those that upsert_concepts takes: a name
-- that no other memory mentions may go, and is locked as for its removal. Facts come first, as in remove_evidence().
--
-- memory_ids  memories that the caller has locked
-- named       names that the change may mention. Missing ones are made in the same pass: made one by one later, two batches that
--             change other memories would make them in opposite order. If the change does not come to one, the caller removes it
--             again, with upsert_concepts('{}', …) of what is returned
CREATE OR REPLACE FUNCTION _pgrecall.lock_names(memory_ids bigint[], named pgrecall.naming[] DEFAULT '{}')
RETURNS pgrecall.naming[]
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    homes CONSTANT integer[] := ARRAY(
        SELECT DISTINCT m.namespace_id FROM pgrecall.memories m WHERE m.id = ANY (memory_ids) ORDER BY m.namespace_id
    );
    item record;
    owner record;
    fresh pgrecall.naming[] := '{}'::pgrecall.naming[];
BEGIN
    PERFORM _pgrecall.lock_aliases_shared(homes || ARRAY(SELECT w.namespace_id FROM unnest(named) w));
    IF EXISTS (SELECT FROM pgrecall.relationship_evidence e WHERE e.memory_id = ANY (memory_ids)) THEN
        PERFORM _pgrecall.lock_relationships(homes);
    END IF;
    FOR item IN
        SELECT n.namespace_id, n.alias, min(n.name) AS name, bool_or(n.is_held) AS is_held
        FROM (
            SELECT m.namespace_id, a.alias, NULL, true
            FROM pgrecall.mentions m
            JOIN pgrecall.concept_aliases a ON a.concept_id = m.concept_id AND a.id = m.alias_id
            WHERE m.memory_id = ANY (memory_ids)
            UNION
            SELECT r.namespace_id, a.alias, NULL, true
            FROM pgrecall.relationship_evidence e
            JOIN pgrecall.relationships r ON r.id = e.relationship_id
            CROSS JOIN LATERAL (VALUES (r.source_id, r.source_alias_id), (r.target_id, r.target_alias_id)) n (concept_id, alias_id)
            JOIN pgrecall.concept_aliases a ON a.concept_id = n.concept_id AND a.id = n.alias_id
            WHERE e.memory_id = ANY (memory_ids)
            UNION
            SELECT w.namespace_id, w.alias, w.name, false FROM unnest(named) w
        ) n (namespace_id, alias, name, is_held)
        GROUP BY n.namespace_id, n.alias
        ORDER BY n.namespace_id, n.alias COLLATE "C"
    LOOP
        IF NOT item.is_held THEN
            IF _pgrecall.upsert_concepts(ARRAY[ROW (item.namespace_id, item.alias, item.name)::pgrecall.naming]) > 0 THEN
                fresh := fresh || ROW (item.namespace_id, item.alias, item.name)::pgrecall.naming;
            END IF;
            CONTINUE;
        END IF;
        SELECT a.concept_id, a.id INTO owner FROM pgrecall.concept_aliases a
        WHERE a.namespace_id = item.namespace_id AND a.alias = item.alias
        FOR NO KEY UPDATE;
        IF NOT EXISTS (
            SELECT FROM pgrecall.mentions m
            WHERE m.concept_id = owner.concept_id AND m.alias_id = owner.id AND m.memory_id <> ALL (memory_ids)
        ) THEN
            PERFORM FROM pgrecall.concept_aliases a
            WHERE a.namespace_id = item.namespace_id AND a.alias = item.alias
            FOR UPDATE;
        END IF;
    END LOOP;
    RETURN fresh;
END
$function$;
