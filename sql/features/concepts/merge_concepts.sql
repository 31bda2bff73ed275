-- Merges a concept into another, which takes over its names, mentions and relationships. Returns the merge's id.
--
-- Returns the id of the merge, for pgrecall.split_concept. The type with the higher confidence stays. A relationship
-- between the two becomes a self-loop: it is kept for a split, and readers skip it. The merge moves one row per
-- mention, so keep the concept with more mentions.
--
-- method      name, plural, spelling, llm or manual
-- similarity  of the two names, if it was measured
--
-- Errors  22023 the same concept, two namespaces, or an unknown method;  42704 no such concept
-- 55000 they were split before, and the method is not manual;  55P03 names in use
CREATE OR REPLACE FUNCTION pgrecall.merge_concepts(
    concept_id bigint, into_id bigint, method text DEFAULT 'manual', similarity double precision DEFAULT NULL
)
RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    home integer;
    one record;
    other record;
    merge_id bigint;
BEGIN
    IF method IS NULL OR method NOT IN ('name', 'plural', 'spelling', 'llm', 'manual') THEN
        RAISE EXCEPTION '"%" is not a merge method', left(method, 40)
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass name, plural, spelling, llm or manual.';
    ELSIF concept_id = into_id THEN
        RAISE EXCEPTION 'concept % cannot be merged into itself', concept_id
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass two different concepts.';
    END IF;
    home := _pgrecall.concept_namespace(merge_concepts.concept_id);
    IF home <> _pgrecall.concept_namespace(into_id) THEN
        RAISE EXCEPTION 'concepts % and % belong to different namespaces', concept_id, into_id
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Only concepts of one namespace can be merged.';
    ELSIF method <> 'manual' AND _pgrecall.was_split(merge_concepts.concept_id, into_id) THEN
        RAISE EXCEPTION 'concepts % and % were split before', concept_id, into_id
            USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'If they mean the same after all, merge them with method manual.';
    END IF;
    -- Lock after the aliases, as every writer does, to avoid deadlocks.
    PERFORM _pgrecall.lock_relationships(ARRAY[home]);
    SELECT c.key, c.type, c.type_confidence INTO one FROM pgrecall.concepts c WHERE c.id = merge_concepts.concept_id;
    SELECT c.key, c.type, c.type_confidence INTO other FROM pgrecall.concepts c WHERE c.id = into_id;

    INSERT INTO pgrecall.concept_merges AS g (namespace_id, concept_id, similarity, type, method, key, into_key, aliases)
    SELECT home, into_id, merge_concepts.similarity, one.type, merge_concepts.method, one.key, other.key,
           array_agg(a.alias ORDER BY a.alias)
    FROM pgrecall.concept_aliases a
    WHERE a.concept_id = merge_concepts.concept_id
    RETURNING g.id INTO merge_id;
    UPDATE pgrecall.concept_merges g SET concept_id = into_id WHERE g.concept_id = merge_concepts.concept_id;
    UPDATE pgrecall.concept_aliases a SET concept_id = into_id WHERE a.concept_id = merge_concepts.concept_id;
    INSERT INTO pgrecall.concept_keys (namespace_id, key, concept_id)
    SELECT k.namespace_id, k.key, into_id FROM pgrecall.concept_keys k WHERE k.concept_id = merge_concepts.concept_id
    ON CONFLICT DO NOTHING;
    DELETE FROM pgrecall.concepts c WHERE c.id = merge_concepts.concept_id;
    IF one.type <> 'CONCEPT' AND (other.type = 'CONCEPT' OR other.type_confidence < one.type_confidence) THEN
        UPDATE pgrecall.concepts c SET type = one.type, type_confidence = one.type_confidence WHERE c.id = into_id;
    END IF;
    PERFORM _pgrecall.refresh_relationships(array_agg(r.id))
    FROM pgrecall.relationships r
    WHERE r.source_id = into_id OR r.target_id = into_id;
    RETURN merge_id;
END
$function$;

ALTER FUNCTION pgrecall.merge_concepts OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.merge_concepts TO pgrecall_writer;
