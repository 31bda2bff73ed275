-- Links memories to the concepts that they name; pgrecall.settle_concepts has made those.
--
-- Concepts are looked up one by one (LATERAL … LIMIT 1): in a bulk load the planner knows nothing yet of the tables,
-- and any join it chose would be a guess.
CREATE OR REPLACE FUNCTION pgrecall.add_mentions(memory_ids bigint[])
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
BEGIN
    INSERT INTO pgrecall.mentions (namespace_id, concept_id, memory_id, source)
    SELECT said.namespace_id, c.id, said.memory_id, said.source
    FROM pgrecall.said_concepts(memory_ids) said
    CROSS JOIN LATERAL (
        SELECT c.id FROM pgrecall.concepts c
        WHERE c.namespace_id = said.namespace_id AND c.key = said.key AND c.type = 'CONCEPT'
        LIMIT 1
    ) c
    ON CONFLICT DO NOTHING;
END
$function$;

COMMENT ON FUNCTION pgrecall.add_mentions IS 'Links memories to the concepts that they name by tags and expanded keywords.';
