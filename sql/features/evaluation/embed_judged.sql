-- Stores a generation's embeddings of judged queries. Returns how many are new.
--
-- If judge() has changed a query's words meanwhile, the embedding that judge() stored stays.
--
-- namespaces, query_ids, queries  as returned by unembedded_judged();  embeddings  as text, '[0.1,…]', in the same
-- order
--
-- Errors  22023 not one embedding per query, or the wrong dimension for the generation
CREATE OR REPLACE FUNCTION pgrecall.embed_judged(
    generation integer, namespaces text[], query_ids text[], queries text[], embeddings text[]
)
RETURNS integer
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    chosen pgrecall.generations;
    landed integer;
BEGIN
    SELECT g.* INTO chosen FROM pgrecall.generations g WHERE g.id = embed_judged.generation;
    IF cardinality(query_ids) <> cardinality(embeddings) OR cardinality(query_ids) <> cardinality(namespaces)
       OR cardinality(query_ids) <> cardinality(queries) THEN
        RAISE EXCEPTION '% judged queries have % embeddings', cardinality(query_ids), cardinality(embeddings)
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass one embedding for each query, in the same order.';
    END IF;
    PERFORM _pgrecall.check_vectors(embeddings);
    IF EXISTS (
        SELECT FROM unnest(embeddings) e (value)
        WHERE e.value IS NULL OR pgvector.vector_dims(e.value::pgvector.halfvec) <> chosen.dimension
           OR pgvector.l2_norm(e.value::pgvector.halfvec) = 0
    ) THEN
        RAISE EXCEPTION 'an embedding is zero or does not have % dimensions', chosen.dimension
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Embed the queries with the model of that generation.';
    END IF;
    INSERT INTO pgrecall.judged_vectors (namespace_id, query_id, embedding_model_id, query_vec)
    SELECT q.namespace_id, q.query_id, chosen.model_id, e.embedding::pgvector.halfvec
    FROM unnest(namespaces, query_ids, queries, embeddings) AS e (namespace, query_id, query, embedding)
    JOIN pgrecall.namespaces n ON n.name = e.namespace
    JOIN pgrecall.judged_queries q ON q.namespace_id = n.id AND q.query_id = e.query_id AND q.query = e.query
    WHERE chosen.model_id IS NOT NULL
    ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS landed = ROW_COUNT;
    RETURN landed;
END
$function$;
