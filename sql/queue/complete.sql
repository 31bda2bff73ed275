-- Writes embeddings back, each only if its memory is still what was claimed; returns how many landed.
--
-- A memory that was edited, flagged sensitive or forgotten meanwhile is left alone, and stays pending if it still is.
-- The leases end either way.
--
-- embeddings  as text, '[0.1,…]', in the order of memory_ids and content_hashes
--
-- Errors  22023 arrays of different lengths, no vector, wrong dimension, a zero vector;  55000 no active model
CREATE OR REPLACE FUNCTION pgrecall.complete(
    worker uuid, memory_ids bigint[], content_hashes bytea[], embeddings text[]
)
RETURNS integer
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    model record;
    refused record;
    landed integer;
BEGIN
    SELECT a.id, a.dimension INTO model FROM pgrecall.active_model() a;
    IF model IS NULL THEN
        RAISE EXCEPTION 'no embedding model is active'
            USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Choose one: pgrecall migrate --model NAME.';
    ELSIF cardinality(memory_ids) <> cardinality(content_hashes) OR cardinality(memory_ids) <> cardinality(embeddings) THEN
        RAISE EXCEPTION 'complete() got % ids, % hashes and % embeddings',
                cardinality(memory_ids), cardinality(content_hashes), cardinality(embeddings)
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass one of each for every memory.';
    END IF;
    BEGIN
        SELECT e.id, vector_dims(e.embedding::halfvec) AS dimension INTO refused
        FROM unnest(memory_ids, embeddings) AS e (id, embedding)
        WHERE vector_dims(e.embedding::halfvec) IS DISTINCT FROM model.dimension OR l2_norm(e.embedding::halfvec) = 0
        LIMIT 1;
    EXCEPTION WHEN data_exception THEN
        RAISE EXCEPTION 'an embedding is not a vector: %', SQLERRM
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Write it as [0.1,…], of finite numbers that fit halfvec.';
    END;
    IF FOUND THEN
        RAISE EXCEPTION 'the embedding of memory % has % dimensions or is zero', refused.id, refused.dimension
            USING ERRCODE = 'invalid_parameter_value', HINT = format('It needs %s, and a direction.', model.dimension);
    END IF;

    WITH unchanged AS (
        SELECT m.id, e.embedding
        FROM unnest(memory_ids, content_hashes, embeddings) AS e (id, content_hash, embedding)
        JOIN pgrecall.memories m ON m.id = e.id
        WHERE m.content_hash = e.content_hash
          AND m.embedding IS NULL AND NOT m.is_sensitive AND m.deleted_at IS NULL
        ORDER BY m.id
        FOR NO KEY UPDATE OF m
    )
    UPDATE pgrecall.memories m
    SET embedding = u.embedding::halfvec, embedding_model_id = model.id, embedded_at = now()
    FROM unchanged u
    WHERE m.id = u.id;
    GET DIAGNOSTICS landed = ROW_COUNT;

    -- Landed, or to be claimed anew; another worker's lease on one of them is left to that worker.
    DELETE FROM pgrecall.embedding_jobs j WHERE j.memory_id = ANY (memory_ids) AND j.worker_id = worker;
    RETURN landed;
END
$function$;

COMMENT ON FUNCTION pgrecall.complete IS
    'Writes embeddings back, each only if its memory is still what was claimed, ends the leases, returns how many landed.';
