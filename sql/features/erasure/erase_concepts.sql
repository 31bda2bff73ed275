-- Removes concepts without mentions and facts, together with their manual aliases.
--
-- remove_orphan_alias() keeps manual aliases; an erasure must remove them. The caller holds
-- _pgrecall.lock_aliases_shared of the namespace. A concept in use is locked only for its manual aliases: the others have been
-- locked in the order of names, and once more in that of concepts would deadlock with a writer.
--
-- concept_ids  the concepts to check
CREATE OR REPLACE FUNCTION _pgrecall.erase_concepts(namespace_id integer, concept_ids bigint[])
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    orphan bigint;
    names text[];
BEGIN
    FOR orphan IN
        SELECT c.id FROM pgrecall.concepts c
        WHERE c.id = ANY (concept_ids) AND c.namespace_id = erase_concepts.namespace_id
          AND (EXISTS (SELECT FROM pgrecall.concept_aliases a WHERE a.concept_id = c.id AND a.is_manual)
               OR NOT _pgrecall.is_concept_used(c.id))
        ORDER BY c.id
    LOOP
        -- Lock before the check, to wait for a concurrent writer's new mention and then see it.
        PERFORM FROM pgrecall.concept_aliases a WHERE a.concept_id = orphan ORDER BY a.alias FOR UPDATE;
        CONTINUE WHEN _pgrecall.is_concept_used(orphan);
        WITH gone AS (
            DELETE FROM pgrecall.concept_aliases a WHERE a.concept_id = orphan RETURNING a.alias
        )
        SELECT COALESCE(array_agg(g.alias), '{}') INTO names FROM gone g;
        PERFORM _pgrecall.repair_concept(orphan, names);
    END LOOP;
END
$function$;
