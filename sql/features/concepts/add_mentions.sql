-- Stores the mentions of tags and expanded keywords. The caller has made and locked the names (upsert_concepts).
--
-- memory_ids, sources, named  one element each per mention
CREATE OR REPLACE FUNCTION _pgrecall.add_mentions(memory_ids bigint[], sources text[], named pgrecall.naming[])
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
-- Planning would take longer than execution, and a plan from when the table was small would scan it forever.
SET plan_cache_mode = 'force_generic_plan'
SET enable_seqscan = 'off'
AS $function$
BEGIN
    -- LATERAL … LIMIT 1 looks rows up one by one: without statistics the planner would guess a join.
    INSERT INTO pgrecall.mentions (namespace_id, concept_id, memory_id, alias_id, source)
    SELECT said.namespace_id, a.concept_id, said.memory_id, a.id, said.source::pgrecall.mention_source
    FROM unnest(memory_ids, sources, named) said (memory_id, source, namespace_id, alias, name)
    CROSS JOIN LATERAL (
        SELECT a.concept_id, a.id FROM pgrecall.concept_aliases a
        WHERE a.namespace_id = said.namespace_id AND a.alias = said.alias
        LIMIT 1
    ) a
    ON CONFLICT DO NOTHING;
END
$function$;
