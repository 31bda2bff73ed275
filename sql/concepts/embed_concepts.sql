-- Stores the embeddings of concepts' names, and has those concepts compared with their neighbours once more.
--
-- What another session is changing at this moment is left out: it will be asked for again. Returns how many landed.
--
-- names  what was embedded, as pgrecall.unembedded_concepts gave it: one that has changed since is left out; NULL: no check
--
-- Errors  22023 not one embedding for each concept, or not one of the column's dimension
CREATE OR REPLACE FUNCTION pgrecall.embed_concepts(ids bigint[], embeddings text[], names text[] DEFAULT NULL)
RETURNS integer
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    free bigint[];
    landed integer;
BEGIN
    IF cardinality(ids) <> cardinality(embeddings) OR cardinality(ids) <> cardinality(COALESCE(names, ids::text[])) THEN
        RAISE EXCEPTION '% concepts have % embeddings', cardinality(ids), cardinality(embeddings)
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass one embedding for each concept, in the same order.';
    ELSIF EXISTS (SELECT FROM unnest(embeddings) e (value) WHERE e.value IS NULL OR vector_dims(e.value::halfvec) <> pgrecall.embedding_dimension()) THEN
        RAISE EXCEPTION 'an embedding has not % dimensions', pgrecall.embedding_dimension()
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Embed names with the model that memories are embedded with.';
    END IF;
    free := ARRAY(SELECT c.id FROM pgrecall.concepts c WHERE c.id = ANY (ids) ORDER BY c.id FOR NO KEY UPDATE SKIP LOCKED);
    UPDATE pgrecall.concepts c SET embedding = given.embedding::halfvec, resolved_at = NULL
    FROM unnest(ids, embeddings, COALESCE(names, array_fill(NULL::text, ARRAY[cardinality(ids)]))) given (id, embedding, name)
    WHERE c.id = given.id AND c.id = ANY (free) AND c.name = COALESCE(given.name, c.name);
    GET DIAGNOSTICS landed = ROW_COUNT;
    RETURN landed;
END
$function$;

COMMENT ON FUNCTION pgrecall.embed_concepts IS
    'Stores the embeddings of concepts'' names, and has those concepts compared with their neighbours once more.';
