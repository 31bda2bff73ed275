-- Writes back embeddings of memories that a worker has claimed, each only while its ticket counts; returns how many landed.
--
-- An embedder can change a memory in no other way, and only a memory that claim() gave it. A ticket
-- is void once the text changed, the memory became sensitive or was forgotten, another worker claimed it, or it was used.
--
-- tickets  in the order of memory_ids, as claim() gave them;  the other arguments  see complete()
--
-- Errors  22023 arrays of different lengths, no vector, wrong dimension, a zero vector;  55000 no model chosen
CREATE OR REPLACE FUNCTION pgrecall.complete_claimed(
    worker uuid, memory_ids bigint[], tickets bigint[], content_hashes bytea[], embeddings text[],
    generation integer DEFAULT NULL, is_truncated boolean[] DEFAULT NULL
)
RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    made_for CONSTANT integer := COALESCE(complete_claimed.generation, pgrecall.active_generation());
    ids bigint[];
    hashes bytea[];
    vectors text[];
    marks boolean[];
BEGIN
    IF cardinality(memory_ids) <> cardinality(tickets) OR cardinality(memory_ids) <> cardinality(content_hashes)
       OR cardinality(memory_ids) <> cardinality(embeddings) OR cardinality(memory_ids) <> cardinality(is_truncated) THEN
        RAISE EXCEPTION 'complete_claimed() got % ids, % tickets, % hashes, % embeddings and % marks',
                cardinality(memory_ids), cardinality(tickets), cardinality(content_hashes), cardinality(embeddings),
                cardinality(is_truncated)
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass one of each for every memory.';
    END IF;
    -- As everybody does: the memory first, then its lease. Who changes the text meanwhile has voided the ticket, or waits.
    PERFORM FROM pgrecall.memories m WHERE m.id = ANY (memory_ids) AND NOT m.is_sensitive ORDER BY m.id FOR NO KEY UPDATE;
    SELECT array_agg(c.id), array_agg(c.content_hash), array_agg(c.embedding), array_agg(COALESCE(c.is_truncated, false))
    INTO ids, hashes, vectors, marks
    FROM (
        SELECT DISTINCT ON (e.id) e.id, e.content_hash, e.embedding, e.is_truncated
        FROM unnest(memory_ids, tickets, content_hashes, embeddings, is_truncated)
            AS e (id, ticket, content_hash, embedding, is_truncated)
        JOIN pgrecall.embedding_jobs j ON j.memory_id = e.id AND j.generation_id = made_for
        WHERE j.worker_id = worker AND j.ticket = e.ticket
        ORDER BY e.id
    ) c;
    IF ids IS NULL THEN
        RETURN 0;
    END IF;
    RETURN pgrecall.complete(worker, ids, hashes, vectors, made_for, marks);
END
$function$;

COMMENT ON FUNCTION pgrecall.complete_claimed IS
    'Writes back embeddings of memories that a worker has claimed, each only while its ticket counts; returns how many landed.';

ALTER FUNCTION pgrecall.complete_claimed OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.complete_claimed TO pgrecall_embedder;
