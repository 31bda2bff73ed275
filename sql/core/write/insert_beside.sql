-- Inserts the new memories of a batch that may also change stored ones, and locks the names of both in one pass.
--
-- Everybody who stores a memory takes its external id first, and its names after that (link_declared_concepts). A batch that locked
-- the names of its changes first would deadlock with a writer of one of its external ids who needs such a name; one that locked
-- names twice, of the new memories and of the changed ones, with another batch. So the trigger leaves the names to this function.
--
-- memories   the batch, as for insert_memories();  fresh: those of it to insert, where an existing external_id is left out
-- namespace  the default namespace
-- changed    the memories that will change, which the caller has locked
--
-- ids   as of insert_memories(), for fresh
-- made  names that the change may not come to (lock_names)
CREATE OR REPLACE FUNCTION _pgrecall.insert_beside(
    memories jsonb, fresh jsonb, namespace text, changed bigint[], OUT ids bigint[], OUT made pgrecall.naming[]
)
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    memory_ids bigint[];
    sources text[];
    named pgrecall.naming[];
    revived pgrecall.naming[];
BEGIN
    PERFORM set_config('pgrecall.links_later', 'on', true);
    ids := _pgrecall.insert_memories(fresh, namespace);
    PERFORM set_config('pgrecall.links_later', '', true);
    -- As stored: secrets may have been taken out.
    SELECT array_agg(m.id), array_agg(s.source), array_agg(ROW (m.namespace_id, s.alias, s.name)::pgrecall.naming)
    INTO memory_ids, sources, named
    FROM pgrecall.memories m
    CROSS JOIN LATERAL _pgrecall.declared_aliases(m.tags, m.expanded_keywords) s
    WHERE m.id = ANY (ids) AND NOT m.is_sensitive AND m.deleted_at IS NULL;
    IF changed <> '{}' OR array_position(ids, NULL) IS NOT NULL THEN
        -- A row that has appeared meanwhile is locked last.
        IF cardinality(array_positions(ids, NULL)) > cardinality(changed) THEN
            changed := _pgrecall.lock_external_ids(memories, namespace);
        END IF;
        PERFORM _pgrecall.lock_languages(memories, namespace);
        -- A forgotten memory that comes back mentions its own names again.
        SELECT array_agg(ROW (m.namespace_id, s.alias, s.name)::pgrecall.naming) INTO revived
        FROM pgrecall.memories m
        CROSS JOIN LATERAL _pgrecall.declared_aliases(m.tags, m.expanded_keywords) s
        WHERE m.id = ANY (changed) AND NOT m.is_sensitive AND m.deleted_at IS NOT NULL;
        made := _pgrecall.lock_names(changed, _pgrecall.stated_names(memories, namespace) || named || revived);
    ELSIF named IS NOT NULL THEN
        PERFORM _pgrecall.lock_aliases_shared(ARRAY(SELECT DISTINCT n.namespace_id FROM unnest(named) n));
        PERFORM _pgrecall.upsert_concepts(named);
    END IF;
    IF named IS NOT NULL THEN
        PERFORM _pgrecall.add_mentions(memory_ids, sources, named);
    END IF;
END
$function$;
