-- Finds concepts that mean the same as one, by name match and the settings resolve_trigram and resolve_embedding.
--
-- Never matches concepts of two confident types, concepts split before, paths or identifiers.
--
-- method, similarity, in the result  how the most similar pair of names matched
CREATE OR REPLACE FUNCTION _pgrecall.similar_concepts(concept_id bigint)
RETURNS TABLE (alike_id bigint, method text, similarity real)
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 2
SET search_path FROM CURRENT
-- Planning takes longer than the rest, and every plan is the same.
SET plan_cache_mode = 'force_generic_plan'
AS $function$
DECLARE
    by_trigram real := pgrecall.stored_setting('resolve_trigram')::real;
    by_cosine real := pgrecall.stored_setting('resolve_embedding')::real;
    own record;
BEGIN
    SELECT c.namespace_id, c.type INTO own FROM pgrecall.concepts c WHERE c.id = similar_concepts.concept_id;
    IF own.namespace_id IS NULL OR own.type = 'FILE' OR _pgrecall.is_exact_name(similar_concepts.concept_id) THEN
        RETURN;
    END IF;
    RETURN QUERY
    WITH names AS MATERIALIZED (
        SELECT a.alias, _pgrecall.canonical_name(a.alias) AS plain
        FROM pgrecall.concept_aliases a
        WHERE a.concept_id = similar_concepts.concept_id
        ORDER BY a.alias
        LIMIT 10
    ), nearest AS MATERIALIZED (
        SELECT n.id, n.cosine FROM _pgrecall.nearest_concepts(similar_concepts.concept_id, 11) n
    ), candidates AS MATERIALIZED (
        SELECT n.alias, near.concept_id AS id, near.alias AS other, NULL::double precision AS cosine
        FROM names n CROSS JOIN LATERAL _pgrecall.similar_names(own.namespace_id, n.alias) near
        -- The conditions of _pgrecall.name_match, cheapest first: most neighbours do not match.
        WHERE near.concept_id <> similar_concepts.concept_id
          AND (strpos(_pgrecall.strip_accents(near.alias), n.plain) > 0 OR _pgrecall.is_misspelling(n.alias, near.alias))
        UNION ALL
        SELECT n.alias, near.id, a.alias, near.cosine
        FROM nearest near
        CROSS JOIN LATERAL (SELECT a.alias FROM pgrecall.concept_aliases a WHERE a.concept_id = near.id LIMIT 100) a
        CROSS JOIN names n
        WHERE near.cosine >= by_cosine
    -- MATERIALIZED, so that the last conditions are not evaluated for every candidate.
    ), found AS MATERIALIZED (
        SELECT DISTINCT ON (c.id) c.id, matched.method, _pgrecall.trigram_similarity(c.alias, c.other) AS value
        FROM candidates c
        -- Row by row: the planner has no estimate for a join here and may read all concepts.
        CROSS JOIN LATERAL (SELECT o.type FROM pgrecall.concepts o WHERE o.id = c.id LIMIT 1) other
        CROSS JOIN LATERAL (
            SELECT _pgrecall.name_match(c.alias, c.other, 'PERSON' IN (own.type, other.type), by_trigram, by_cosine, c.cosine)
            OFFSET 0
        ) matched (method)
        WHERE c.id <> similar_concepts.concept_id AND other.type <> 'FILE'
          AND (own.type = other.type OR 'CONCEPT' IN (own.type, other.type)) AND matched.method IS NOT NULL
        ORDER BY c.id, value DESC, matched.method DESC
    )
    SELECT f.id, f.method, f.value
    FROM found f
    WHERE NOT _pgrecall.is_exact_name(f.id) AND NOT _pgrecall.was_split(similar_concepts.concept_id, f.id)
    ORDER BY f.value DESC, f.id;
END
$function$;

COMMENT ON FUNCTION _pgrecall.similar_concepts IS 'Finds concepts that mean the same as one, by their names.';
