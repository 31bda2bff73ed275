-- Stores the embeddings of concepts' names, and has those concepts compared with their neighbours once more.
--
-- What another session is changing at this moment is left out: it will be asked for again. Returns how many landed.
--
-- names       what was embedded, as pgrecall.unembedded_concepts gave it: one that has changed since is left out; NULL: no check
-- generation  whose model embedded them: nothing lands if it is not the active one any more; NULL: no check
--
-- Errors  22023 not one embedding for each concept, or not one of the column's dimension
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
    IF EXISTS (SELECT FROM unnest(embeddings) e (value) WHERE e.value IS NULL OR pgvector.vector_dims(e.value::pgvector.halfvec) <> active.dimension) THEN
        RAISE EXCEPTION 'an embedding has not % dimensions', active.dimension
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Embed names with the model that memories are embedded with.';
    END IF;
    free := ARRAY(SELECT c.id FROM pgrecall.concepts c WHERE c.id = ANY (ids) ORDER BY c.id FOR NO KEY UPDATE SKIP LOCKED);
    -- The column is the only thing that differs from generation to generation.
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

COMMENT ON FUNCTION pgrecall.embed_concepts IS
    'Stores the embeddings of concepts'' names, and has those concepts compared with their neighbours once more.';

ALTER FUNCTION pgrecall.embed_concepts OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.embed_concepts TO pgrecall_embedder;
