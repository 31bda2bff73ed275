-- Stores embeddings of concept names and queues those concepts for comparison with their neighbours.
--
-- Skips rows that another session is changing; they are requested again later. Returns the number stored.
--
-- names       the names that were embedded, from pgrecall.unembedded_concepts; changed names are skipped;
--             NULL: no check
-- generation  the generation of the model used; nothing is stored if it is no longer active; NULL: no check
--
-- Errors  22023 the number of embeddings differs from the number of concepts, or a wrong dimension
CREATE OR REPLACE FUNCTION pgrecall.embed_concepts(
    ids bigint[], embeddings text[], names text[] DEFAULT NULL, generation integer DEFAULT NULL
)
RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    active pgrecall.generations;
    free bigint[];
    landed integer;
BEGIN
    SELECT g.* INTO active FROM pgrecall.generations g WHERE g.state = 'active';
    IF active.id <> embed_concepts.generation THEN
        RETURN 0;
    ELSIF cardinality(ids) <> cardinality(embeddings) OR cardinality(ids) <> cardinality(COALESCE(names, ids::text[])) THEN
        RAISE EXCEPTION '% concepts have % embeddings', cardinality(ids), cardinality(embeddings)
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass one embedding for each concept, in the same order.';
    END IF;
    PERFORM _pgrecall.check_vectors(embeddings);
    IF EXISTS (SELECT FROM unnest(embeddings) e (value)
               WHERE e.value IS NULL OR pgvector.vector_dims(e.value::pgvector.halfvec) <> active.dimension) THEN
        RAISE EXCEPTION 'an embedding does not have % dimensions', active.dimension
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Embed names with the same model as memories.';
    END IF;
    free := ARRAY(SELECT c.id FROM pgrecall.concepts c WHERE c.id = ANY (ids) ORDER BY c.id FOR NO KEY UPDATE SKIP LOCKED);
    -- Generations differ only in the column.
    EXECUTE format(
        $statement$
            UPDATE pgrecall.concepts c SET %I = given.embedding, resolved_at = NULL
            FROM unnest($1, $2::pgvector.halfvec[], $3) given (id, embedding, name)
            WHERE c.id = given.id AND c.id = ANY ($4) AND c.name = COALESCE(given.name, c.name)
        $statement$, active.column_name
    )
    USING ids, embeddings, COALESCE(names, array_fill(NULL::text, ARRAY[cardinality(ids)])), free;
    GET DIAGNOSTICS landed = ROW_COUNT;
    RETURN landed;
END
$function$;

ALTER FUNCTION pgrecall.embed_concepts OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.embed_concepts TO pgrecall_embedder;
