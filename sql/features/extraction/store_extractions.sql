-- Stores extractions of claimed memories, all or none, for complete_extractions(), which has checked them.
-- Returns how many.
--
-- items  those of complete_extractions(), with a namespace_id in each
--
-- Errors  55P03 another transaction held a lock for longer than the caller's lock_timeout
CREATE OR REPLACE FUNCTION _pgrecall.store_extractions(enricher text, version text, items jsonb)
RETURNS integer
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    ids bigint[];
    found jsonb;
    named pgrecall.naming[];
    lost pgrecall.naming[];
    doubted bigint[];
BEGIN
    PERFORM _pgrecall.lock_aliases_shared(
        ARRAY(SELECT DISTINCT (r.item ->> 'namespace_id')::integer FROM jsonb_array_elements(items) r (item))
    );
    -- The lock order of all code: names, then this, then rows. A writer of several memories holds this while it waits for them.
    PERFORM _pgrecall.lock_relationships(ARRAY(
        SELECT (r.item ->> 'namespace_id')::integer
        FROM jsonb_array_elements(items) r (item)
        WHERE jsonb_array_length(r.item -> 'facts') > 0
           OR EXISTS (
                SELECT FROM pgrecall.relationship_evidence e WHERE e.memory_id = (r.item ->> 'memory_id')::bigint
            )
    ));

    SELECT array_agg(x.memory_id), jsonb_agg(x.item)
    INTO ids, found
    FROM (
        SELECT x.memory_id, CASE WHEN enricher = 'text' THEN r.item ELSE r.item - 'times' END AS item
        FROM jsonb_array_elements(items) r (item)
        CROSS JOIN LATERAL (
            SELECT x.memory_id
            FROM pgrecall.jobs x
            JOIN pgrecall.memories m ON m.id = x.memory_id
            WHERE x.memory_id = (r.item ->> 'memory_id')::bigint AND x.ticket = (r.item ->> 'ticket')::bigint
              AND x.kind = store_extractions.enricher AND x.generation_id = 0 AND m.namespace_id = (r.item ->> 'namespace_id')::integer
              AND NOT m.is_sensitive AND m.deleted_at IS NULL
            LIMIT 1
            FOR UPDATE OF x SKIP LOCKED
            FOR KEY SHARE OF m SKIP LOCKED
        ) x
    ) x;
    IF ids IS NULL THEN
        RETURN 0;
    END IF;

    lost := _pgrecall.remove_evidence(ids, CASE WHEN enricher = 'llm' THEN 'llm' ELSE 'pattern' END);
    WITH removed AS (
        DELETE FROM pgrecall.mentions m
        USING pgrecall.concept_aliases a
        WHERE a.concept_id = m.concept_id AND a.id = m.alias_id AND m.memory_id = ANY (ids)
          AND CASE WHEN enricher = 'llm' THEN m.source = 'llm' ELSE m.source NOT IN ('tag', 'keyword', 'llm') END
        RETURNING m.namespace_id, a.alias, a.concept_id, m.type
    )
    SELECT lost || COALESCE(array_agg(DISTINCT ROW (r.namespace_id, r.alias, NULL)::pgrecall.naming), '{}'),
           array_agg(DISTINCT r.concept_id) FILTER (WHERE r.type IS NOT NULL)
    INTO lost, doubted FROM removed r;
    SELECT array_agg(ROW (n.namespace_id, n.alias, n.name)::pgrecall.naming) INTO named FROM _pgrecall.extracted_names(found) n;
    PERFORM _pgrecall.upsert_concepts(COALESCE(named, '{}'), lost) WHERE named IS NOT NULL OR cardinality(lost) > 0;
    PERFORM _pgrecall.store_extracted_mentions(found);
    PERFORM _pgrecall.retype_concepts(doubted, ids) WHERE doubted IS NOT NULL;
    PERFORM _pgrecall.store_extracted_times(found);
    IF jsonb_path_exists(found, '$[*].facts[*]') THEN
        PERFORM _pgrecall.store_facts(found);
        -- Names of facts that were skipped: both are one concept, or one is too long.
        SELECT array_agg(DISTINCT ROW (a.namespace_id, a.alias, NULL)::pgrecall.naming) INTO lost
        FROM _pgrecall.extracted_names((SELECT jsonb_agg(r.item - 'mentions') FROM jsonb_array_elements(found) r (item))) n
        CROSS JOIN LATERAL (
            SELECT a.namespace_id, a.alias, a.concept_id, a.id FROM pgrecall.concept_aliases a
            WHERE a.namespace_id = n.namespace_id AND a.alias = n.alias AND NOT a.is_manual
            LIMIT 1
        ) a
        WHERE NOT _pgrecall.is_alias_used(a.concept_id, a.id);
        PERFORM _pgrecall.upsert_concepts('{}', lost) WHERE lost IS NOT NULL;
    END IF;

    -- Only first extractions: other memories are older than curation, or curated already.
    IF enricher = 'text' AND pgrecall.stored_setting('curate') <> 'off' THEN
        INSERT INTO pgrecall.jobs (memory_id, kind, namespace_id)
        SELECT m.id, 'curation', m.namespace_id
        FROM pgrecall.memories m
        WHERE m.id = ANY (ids) AND NOT EXISTS (SELECT FROM pgrecall.extractions x WHERE x.memory_id = m.id AND x.enricher = 'text')
        ORDER BY m.id
        ON CONFLICT DO NOTHING;
    END IF;
    PERFORM _pgrecall.note_extractions(enricher, version, ids);
    -- What other models read, now that the text was read.
    INSERT INTO pgrecall.jobs (memory_id, kind, namespace_id)
    SELECT m.id, k.kind, m.namespace_id
    FROM (VALUES
        ('llm', pgrecall.stored_setting('extract_llm') = 'on'),
        ('notes', pgrecall.stored_setting('extract_notes') = 'on'),
        ('sparse', pgrecall.stored_setting('extract_sparse') <> '')
    ) k (kind, is_on)
    JOIN pgrecall.memories m ON m.id = ANY (ids)
    WHERE enricher = 'text' AND k.is_on
      AND (k.kind <> 'notes' OR (starts_with(m.external_id, 'message:') AND m.session IS NOT NULL))
      AND NOT EXISTS (SELECT FROM pgrecall.extractions x WHERE x.memory_id = m.id AND x.enricher = k.kind)
    ON CONFLICT DO NOTHING;
    RETURN cardinality(ids);
END
$function$;
