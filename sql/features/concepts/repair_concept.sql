-- Repairs a concept that lost aliases: removes it if none is left, or gives it another of its names.
--
-- After removing several aliases, call it for each concept in order of id: if two transactions remove the last two
-- aliases of a concept, the second sees that none is left.
--
-- lost  the removed aliases; they are deleted from the records of merges and splits
CREATE OR REPLACE FUNCTION _pgrecall.repair_concept(concept_id bigint, lost text[])
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    own record;
    names text[];
BEGIN
    SELECT c.namespace_id, c.key INTO own FROM pgrecall.concepts c WHERE c.id = repair_concept.concept_id FOR UPDATE;
    SELECT COALESCE(array_agg(a.alias ORDER BY a.is_manual DESC, a.alias), '{}') INTO names
    FROM pgrecall.concept_aliases a
    WHERE a.concept_id = repair_concept.concept_id;

    DELETE FROM pgrecall.concept_merges g
    WHERE g.namespace_id = own.namespace_id AND g.split_at IS NOT NULL
      AND (g.key = ANY (lost) OR g.into_key = ANY (lost))
      AND (SELECT count(*) FROM pgrecall.concept_aliases a
           WHERE a.namespace_id = g.namespace_id AND a.alias IN (g.key, g.into_key)) < 2;
    IF names = '{}' THEN
        DELETE FROM pgrecall.concepts c WHERE c.id = repair_concept.concept_id;
        RETURN;
    END IF;
    UPDATE pgrecall.concept_merges g
    SET aliases = kept.moved,
        key = CASE WHEN g.key = ANY (kept.moved) THEN g.key ELSE kept.moved[1] END,
        into_key = CASE WHEN g.into_key = ANY (kept.others) THEN g.into_key ELSE kept.others[1] END
    FROM pgrecall.concept_merges same
    CROSS JOIN LATERAL (
        SELECT ARRAY(SELECT n.name FROM unnest(same.aliases) n (name) WHERE n.name = ANY (names)) AS moved,
               ARRAY(SELECT n.name FROM unnest(names) n (name) WHERE n.name <> ALL (same.aliases)) AS others
    ) kept
    WHERE g.concept_id = repair_concept.concept_id AND g.split_at IS NULL AND same.id = g.id
      AND kept.moved <> '{}' AND kept.others <> '{}';
    -- A merge side without names left, or the only side left, cannot be split.
    DELETE FROM pgrecall.concept_merges g
    WHERE g.concept_id = repair_concept.concept_id AND g.split_at IS NULL AND (NOT g.aliases && names OR names <@ g.aliases);

    UPDATE pgrecall.concepts c SET key = a.alias, name = a.name, resolved_at = NULL
    FROM pgrecall.concept_aliases a
    WHERE c.id = repair_concept.concept_id AND c.key <> ALL (names)
      AND a.namespace_id = c.namespace_id AND a.alias = names[1];
END
$function$;
