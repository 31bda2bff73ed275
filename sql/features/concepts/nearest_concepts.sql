-- Returns the concepts of the same namespace with the nearest name embeddings, including the concept itself.
--
-- EXECUTE plans with a constant generation, so that name_embedding_of() folds to its column and the index is used.
CREATE OR REPLACE FUNCTION _pgrecall.nearest_concepts(concept_id bigint, depth integer)
RETURNS TABLE (id bigint, cosine double precision)
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 11
SET search_path FROM CURRENT
AS $function$
#variable_conflict use_column
DECLARE
    generation integer := pgrecall.active_generation();
    own record;
BEGIN
    SELECT c.namespace_id, _pgrecall.name_embedding_of(c, generation) AS embedding INTO own
    FROM pgrecall.concepts c WHERE c.id = nearest_concepts.concept_id;
    IF own.embedding IS NULL THEN
        RETURN;
    END IF;
    RETURN QUERY EXECUTE $statement$
        SELECT c.id, 1 - (_pgrecall.name_embedding_of(c, $1) OPERATOR(pgvector.<=>) $2)
        FROM pgrecall.concepts c
        WHERE _pgrecall.name_embedding_of(c, $1) IS NOT NULL AND c.namespace_id = $3
        ORDER BY _pgrecall.name_embedding_of(c, $1) OPERATOR(pgvector.<=>) $2
        LIMIT $4
    $statement$
    USING generation, own.embedding, own.namespace_id, depth;
END
$function$;
