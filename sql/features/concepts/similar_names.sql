-- Finds concepts of the namespace that share a key with a concept.
--
-- At most 20 for each key, so a crowd of similar names costs each of them the same.
CREATE OR REPLACE FUNCTION _pgrecall.similar_names(namespace_id integer, concept_id bigint)
RETURNS SETOF bigint
LANGUAGE sql STABLE PARALLEL SAFE ROWS 10
BEGIN ATOMIC
    SELECT DISTINCT near.concept_id
    FROM (
        SELECT k.key FROM pgrecall.concept_keys k WHERE k.concept_id = similar_names.concept_id LIMIT 400
    ) own
    CROSS JOIN LATERAL (
        SELECT k.concept_id FROM pgrecall.concept_keys k
        WHERE k.namespace_id = similar_names.namespace_id AND k.key = own.key AND k.concept_id <> similar_names.concept_id
        ORDER BY k.concept_id
        LIMIT 20
    ) near;
END;
