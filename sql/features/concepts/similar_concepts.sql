-- Finds concepts that mean the same as one by their letters, and those that are so similar that only somebody else can tell.
--
-- Never matches concepts of two confident types, concepts split before, paths or identifiers.
--
-- is_asked  whether doubtful pairs are wanted too
--
-- method, similarity, in the result  how the most similar pair of names matched; method NULL: doubtful
CREATE OR REPLACE FUNCTION _pgrecall.similar_concepts(concept_id bigint, is_asked boolean DEFAULT false)
RETURNS TABLE (alike_id bigint, method text, similarity real)
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 2
SET search_path FROM CURRENT
-- Planning takes longer than the rest, and every plan is the same.
SET plan_cache_mode = 'force_generic_plan'
AS $function$
DECLARE
    by_spelling CONSTANT boolean := pgrecall.stored_setting('resolve_spelling') = 'on';
    own record;
BEGIN
    SELECT c.namespace_id, c.type INTO own FROM pgrecall.concepts c WHERE c.id = similar_concepts.concept_id;
    IF own.namespace_id IS NULL OR own.type = 'FILE' OR _pgrecall.is_exact_name(similar_concepts.concept_id) THEN
        RETURN;
    END IF;
    RETURN QUERY
    WITH names AS MATERIALIZED (
        SELECT a.alias, a.name
        FROM pgrecall.concept_aliases a
        WHERE a.concept_id = similar_concepts.concept_id
        ORDER BY a.alias
        LIMIT 10
    ), candidates AS MATERIALIZED (
        SELECT near.id, other.type
        FROM _pgrecall.similar_names(own.namespace_id, similar_concepts.concept_id) near (id)
        -- Row by row: the planner has no estimate for a join here and may read all concepts.
        CROSS JOIN LATERAL (SELECT o.type FROM pgrecall.concepts o WHERE o.id = near.id LIMIT 1) other
        WHERE other.type <> 'FILE' AND (own.type = other.type OR 'CONCEPT' IN (own.type, other.type))
        ORDER BY near.id
        LIMIT 200
    -- MATERIALIZED, so that the last conditions are not evaluated for every candidate.
    ), found AS MATERIALIZED (
        SELECT DISTINCT ON (c.id) c.id, matched.method, _pgrecall.trigram_similarity(n.alias, a.alias) AS value
        FROM candidates c
        CROSS JOIN LATERAL (
            SELECT a.alias, a.name FROM pgrecall.concept_aliases a WHERE a.concept_id = c.id ORDER BY a.alias LIMIT 10
        ) a
        CROSS JOIN names n
        CROSS JOIN LATERAL (
            SELECT _pgrecall.name_match(
                n.alias, a.alias, n.name, a.name, 'PERSON' IN (own.type, c.type), ARRAY[own.type, c.type] && '{PERSON,PLACE,ORG}'
            )
            OFFSET 0
        ) matched (method)
        WHERE matched.method IS NOT NULL
        ORDER BY c.id, matched.method = 'doubtful', value DESC, matched.method DESC
    )
    SELECT f.id, NULLIF(f.method, 'doubtful'), f.value
    FROM found f
    WHERE (f.method <> 'doubtful' OR is_asked) AND (f.method <> 'spelling' OR by_spelling)
      AND NOT _pgrecall.is_exact_name(f.id) AND NOT _pgrecall.was_split(similar_concepts.concept_id, f.id)
    ORDER BY f.method = 'doubtful', f.value DESC, f.id;
END
$function$;
