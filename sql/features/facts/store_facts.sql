-- Stores relationships, with the memories that state them as evidence. Neither order nor repetition matters.
--
-- A repeated statement, with the same names and label and a compatible time, adds evidence to one relationship.
-- _pgrecall.rebuild_validity then recomputes the validity of a subject's relationships of that label from all evidence, so
-- neither order nor repetition matters. pgrecall.relation_labels maps the stated labels. Skips facts whose names have no
-- concept (_pgrecall.upsert_concepts inserts them) or the same one, and facts without a label of 1 to 200 characters.
--
-- items see complete_extractions, with a namespace_id in each item; its "facts" are [{"subject", "label", "object",
--       "confidence", "source", "statement", "valid_from", "valid_to", "is_exclusive"}]; is_exclusive: the subject has
--       one object at a time for this label
CREATE OR REPLACE FUNCTION _pgrecall.store_facts(items jsonb)
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    namespace_ids integer[];
    fact record;
    edge bigint;
    touched bigint[] := '{}'::bigint[];
BEGIN
    SELECT array_agg(DISTINCT (r.item ->> 'namespace_id')::integer) INTO namespace_ids
    FROM jsonb_array_elements(items) r (item)
    WHERE jsonb_array_length(r.item -> 'facts') > 0;
    IF namespace_ids IS NULL THEN
        RETURN;
    END IF;
    PERFORM _pgrecall.lock_relationships(namespace_ids);

    FOR fact IN
        -- Computed before the lookups: under row-level security an index takes no expression that is not leakproof.
        WITH stated AS MATERIALIZED (
            SELECT r.item, f.*, _pgrecall.normalize_label(f.label) AS stated,
                   (r.item ->> 'namespace_id')::integer AS namespace_id,
                   pgrecall.normalize_name(f.subject) AS subject_alias, pgrecall.normalize_name(f.object) AS object_alias
            FROM jsonb_array_elements(items) r (item)
            CROSS JOIN LATERAL jsonb_to_recordset(r.item -> 'facts') f (
                subject text, label text, object text, confidence real, source text, statement text,
                valid_from timestamptz, valid_to timestamptz, is_exclusive boolean
            )
        )
        SELECT (f.item ->> 'memory_id')::bigint AS memory_id, s.namespace_id, f.stated,
               pgrecall.canonical_label(s.namespace_id, f.stated) AS label,
               COALESCE(f.source, 'pattern') AS source, NULLIF(btrim(f.statement), '') AS statement,
               least(greatest(COALESCE(f.confidence, 1), 0), 1) AS confidence, COALESCE(f.is_exclusive, false) AS is_exclusive,
               f.valid_from, CASE WHEN f.valid_to >= f.valid_from OR f.valid_from IS NULL THEN f.valid_to END AS valid_to,
               s.concept_id AS source_id, s.id AS source_alias_id, t.concept_id AS target_id, t.id AS target_alias_id
        FROM stated f
        -- One by one: the planner cannot estimate the number of rows.
        CROSS JOIN LATERAL (
            SELECT a.namespace_id, a.concept_id, a.alias, a.id FROM pgrecall.concept_aliases a
            WHERE a.namespace_id = f.namespace_id AND a.alias = f.subject_alias
            LIMIT 1
        ) s
        CROSS JOIN LATERAL (
            SELECT a.concept_id, a.alias, a.id FROM pgrecall.concept_aliases a
            WHERE a.namespace_id = s.namespace_id AND a.alias = f.object_alias
            LIMIT 1
        ) t
        WHERE s.concept_id <> t.concept_id AND length(f.stated) BETWEEN 1 AND 200
        ORDER BY s.namespace_id, s.alias, f.stated, t.alias, memory_id, f.confidence DESC
    LOOP
        -- Any of their relationships will do: rebuild_validity assigns the evidence.
        SELECT min(r.id) INTO edge FROM pgrecall.relationships r
        WHERE r.source_id = fact.source_id AND r.label = fact.label AND r.target_id = fact.target_id
          AND r.source_alias_id = fact.source_alias_id AND r.target_alias_id = fact.target_alias_id;
        IF edge IS NULL THEN
            INSERT INTO pgrecall.relationships AS r (namespace_id, source_id, source_alias_id, target_id, target_alias_id, label)
            VALUES (fact.namespace_id, fact.source_id, fact.source_alias_id, fact.target_id, fact.target_alias_id, fact.label)
            RETURNING r.id INTO edge;
        END IF;
        INSERT INTO pgrecall.relationship_evidence
            (relationship_id, memory_id, source, confidence, statement, valid_from, valid_to, is_exclusive, label)
        SELECT edge, fact.memory_id, fact.source, fact.confidence, fact.statement, fact.valid_from, fact.valid_to,
               fact.is_exclusive, fact.stated
        WHERE NOT EXISTS (
            SELECT FROM pgrecall.relationship_evidence e
            JOIN pgrecall.relationships r ON r.id = e.relationship_id
            WHERE e.memory_id = fact.memory_id AND e.source = fact.source AND e.label = fact.stated
              AND e.valid_from IS NOT DISTINCT FROM fact.valid_from AND e.valid_to IS NOT DISTINCT FROM fact.valid_to
              AND r.source_id = fact.source_id AND r.source_alias_id = fact.source_alias_id AND r.label = fact.label
              AND r.target_id = fact.target_id AND r.target_alias_id = fact.target_alias_id
        );
        IF FOUND THEN
            touched := touched || edge;
        END IF;
    END LOOP;
    PERFORM _pgrecall.refresh_relationships(touched);
END
$function$;
