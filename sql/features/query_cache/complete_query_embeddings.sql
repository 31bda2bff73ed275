-- Stores embeddings of claimed queries, deletes the query texts, and notifies the waiting clients with the id.
--
-- Skips queries that are answered already or not claimed, and those that another transaction holds: their lease ends, and they are
-- claimed again. Whoever asks may keep a transaction open, and nobody else waits for it.
--
-- embeddings  as text, in the order of ids; NULL: the query could not be embedded, for the reason in errors
--
-- Errors  22023 not one embedding or error for each query, no vector, wrong dimension, a zero vector
CREATE OR REPLACE FUNCTION pgrecall.complete_query_embeddings(ids bigint[], embeddings text[], errors text[])
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    refused bigint;
BEGIN
    IF cardinality(ids) <> cardinality(embeddings) OR cardinality(ids) <> cardinality(errors) THEN
        RAISE EXCEPTION '% queries have % embeddings and % errors', cardinality(ids), cardinality(embeddings), cardinality(errors)
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass one of each for every query.';
    END IF;
    PERFORM _pgrecall.check_vectors(embeddings);
    SELECT q.id INTO refused
    FROM unnest(ids, embeddings) AS a (id, embedding)
    CROSS JOIN LATERAL (SELECT a.embedding::pgvector.halfvec AS embedding OFFSET 0) v
    JOIN pgrecall.query_embeddings q ON q.id = a.id
    JOIN pgrecall.generations g ON g.id = q.generation_id
    WHERE pgvector.vector_dims(v.embedding) <> g.dimension OR pgvector.l2_norm(v.embedding) = 0
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'the embedding of query % is zero or of another dimension than its generation', refused
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Embed it with the model of the generation it was claimed for.';
    END IF;
    UPDATE pgrecall.query_embeddings q
    SET embedding = a.embedding::pgvector.halfvec,
        error = CASE WHEN a.embedding IS NULL THEN left(COALESCE(a.error, 'it could not be embedded'), 500) END,
        query = NULL, answered_at = clock_timestamp(), lease_expires_at = NULL
    FROM unnest(ids, embeddings, errors) AS a (id, embedding, error)
    WHERE q.id = a.id AND q.id IN (
        SELECT o.id FROM pgrecall.query_embeddings o
        WHERE o.id = ANY (ids) AND o.answered_at IS NULL AND o.lease_expires_at IS NOT NULL
        FOR UPDATE SKIP LOCKED
    );
    PERFORM _pgrecall.send_notification('pgrecall_answer', a.id::text) FROM unnest(ids) AS a (id);
END
$function$;

ALTER FUNCTION pgrecall.complete_query_embeddings OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.complete_query_embeddings TO pgrecall_embedder;
