-- Stores embeddings of memories that have not changed since the claim, and ends the leases. Returns how many it stored.
--
-- For roles that may write memories and embed them themselves. Daemons call complete_claimed().
--
-- Skips memories that were edited, flagged sensitive or forgotten meanwhile; an edited one stays pending. Stores nothing
-- in a dropped generation. The leases end in any case.
--
-- embeddings    as text, '[0.1,…]', in the order of memory_ids and content_hashes
-- generation    NULL: the active one
-- is_truncated  for each memory, true if the model read only its beginning; NULL: none
-- passages      embeddings of long memories' passages, see store_passages(); NULL: none
--
-- Errors  22023 arrays of different lengths, no vector, wrong dimension, a zero vector, wrong passages;  55000 no model chosen
CREATE OR REPLACE FUNCTION pgrecall.complete(
    worker uuid, memory_ids bigint[], content_hashes bytea[], embeddings text[],
    generation integer DEFAULT NULL, is_truncated boolean[] DEFAULT NULL, passages jsonb DEFAULT NULL
)
RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    chosen pgrecall.generations;
    refused record;
    landed bigint[];
BEGIN
    -- Keeps the column from being dropped.
    PERFORM FROM pgrecall.memories m WHERE false;
    SELECT g.* INTO chosen FROM pgrecall.generations g
    WHERE g.id = COALESCE(complete.generation, pgrecall.active_generation());
    IF chosen.id IS NULL THEN
        RETURN 0;
    ELSIF chosen.model_id IS NULL THEN
        RAISE EXCEPTION 'no embedding model is active'
            USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Choose one: pgrecall migrate --model NAME.';
    ELSIF cardinality(memory_ids) <> cardinality(content_hashes) OR cardinality(memory_ids) <> cardinality(embeddings)
          OR cardinality(memory_ids) <> cardinality(is_truncated) THEN
        RAISE EXCEPTION 'complete() got % ids, % hashes, % embeddings and % marks',
                cardinality(memory_ids), cardinality(content_hashes), cardinality(embeddings), cardinality(is_truncated)
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass one of each for every memory.';
    ELSIF passages IS NOT NULL AND NOT COALESCE(
        jsonb_typeof(passages) = 'array' AND jsonb_array_length(jsonb_path_query_array(passages, 'strict $[*]', silent => true))
            = cardinality(memory_ids), false
    ) THEN
        RAISE EXCEPTION 'passages is not an array with one element for each of % memories', cardinality(memory_ids)
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass [["[0.1, …]", …], null, …], in the order of memory_ids.';
    END IF;
    PERFORM _pgrecall.check_vectors(embeddings);
    SELECT e.id, pgvector.vector_dims(v.embedding) AS dimension INTO refused
    FROM unnest(memory_ids, embeddings) AS e (id, embedding)
    CROSS JOIN LATERAL (SELECT e.embedding::pgvector.halfvec AS embedding OFFSET 0) v
    WHERE pgvector.vector_dims(v.embedding) IS DISTINCT FROM chosen.dimension OR pgvector.l2_norm(v.embedding) = 0
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'the embedding of memory % has % dimensions or is zero', refused.id, refused.dimension
            USING ERRCODE = 'invalid_parameter_value', HINT = format('Pass a nonzero vector of %s dimensions.', chosen.dimension);
    END IF;

    -- Dynamic, because each generation has a column of its own.
    EXECUTE format(
        $statement$
            WITH unchanged AS (
                SELECT m.id, e.embedding
                FROM unnest($1, $2, $3) AS e (id, content_hash, embedding)
                JOIN unnest(_pgrecall.seen_ids('memory', $1)) AS s (id) ON s.id = e.id
                JOIN pgrecall.memories m ON m.id = s.id
                WHERE m.content_hash = e.content_hash
                  AND m.%1$I IS NULL AND NOT m.is_sensitive AND m.deleted_at IS NULL
                ORDER BY m.id
                FOR NO KEY UPDATE OF m
            ), filled AS (
                UPDATE pgrecall.memories m SET %1$I = u.embedding::pgvector.halfvec FROM unchanged u WHERE m.id = u.id RETURNING m.id
            )
            SELECT COALESCE(array_agg(f.id), '{}') FROM filled f
        $statement$, chosen.column_name
    )
    INTO landed
    USING memory_ids, content_hashes, embeddings;

    IF true = ANY (is_truncated) THEN
        INSERT INTO pgrecall.truncated_embeddings (memory_id, generation_id)
        SELECT e.id, chosen.id FROM unnest(memory_ids, is_truncated) AS e (id, is_truncated)
        WHERE e.is_truncated AND e.id = ANY (landed)
        ON CONFLICT DO NOTHING;
    END IF;
    IF passages IS NOT NULL THEN
        PERFORM _pgrecall.store_passages(chosen, array_agg(e.id ORDER BY e.place), jsonb_agg(e.passages ORDER BY e.place))
        FROM (
            SELECT u.id, u.place, complete.passages -> (u.place - 1)::integer AS passages
            FROM unnest(memory_ids) WITH ORDINALITY u (id, place)
            WHERE u.id = ANY (landed)
        ) e
        HAVING count(*) > 0;
    END IF;
    PERFORM _pgrecall.update_backgrounds(chosen.id, landed) WHERE cardinality(landed) > 0;
    -- Ends the lease of every stored or already embedded memory, even if another worker holds it by now. If the text had
    -- changed, the old lease would be gone, so any lease found here belongs to the text just embedded.
    DELETE FROM pgrecall.jobs j
    USING unnest(memory_ids, content_hashes) AS e (id, content_hash), pgrecall.memories m
    WHERE j.memory_id = e.id AND j.kind = 'embedding' AND j.generation_id = chosen.id AND m.id = e.id AND m.content_hash = e.content_hash
      AND (j.worker_id = worker OR j.memory_id = ANY (landed));
    RETURN cardinality(landed);
END
$function$;

ALTER FUNCTION pgrecall.complete OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.complete TO pgrecall_writer;
