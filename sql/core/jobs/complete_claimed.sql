-- Stores embeddings of claimed memories while their tickets are valid. Returns how many it stored.
--
-- An embedder can change a memory only through this function, and only a memory that it has claimed. A ticket becomes invalid
-- when it is used, the text changes, the memory becomes sensitive or is forgotten, or another worker claims it.
--
-- Waits for nobody. Memories that another transaction has locked are not stored; their lease ends without counting as an
-- attempt, and they are claimed when that transaction has ended.
--
-- tickets  in the order of memory_ids, as claim() returned them;  the other arguments  see complete()
--
-- Errors  22023 arrays of different lengths, no vector, wrong dimension, a zero vector;  55000 no model chosen
CREATE OR REPLACE FUNCTION pgrecall.complete_claimed(
    worker uuid, memory_ids bigint[], tickets bigint[], content_hashes bytea[], embeddings text[],
    generation integer DEFAULT NULL, is_truncated boolean[] DEFAULT NULL, passages jsonb DEFAULT NULL
)
RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
SET lock_timeout = '1s'
AS $function$
DECLARE
    made_for CONSTANT integer := COALESCE(complete_claimed.generation, pgrecall.active_generation());
    free bigint[];
    ids bigint[];
    hashes bytea[];
    vectors text[];
    marks boolean[];
    parts jsonb;
BEGIN
    IF cardinality(memory_ids) <> cardinality(tickets) OR cardinality(memory_ids) <> cardinality(content_hashes)
       OR cardinality(memory_ids) <> cardinality(embeddings) OR cardinality(memory_ids) <> cardinality(is_truncated) THEN
        RAISE EXCEPTION 'complete_claimed() got % ids, % tickets, % hashes, % embeddings and % marks',
                cardinality(memory_ids), cardinality(tickets), cardinality(content_hashes), cardinality(embeddings),
                cardinality(is_truncated)
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass one of each for every memory.';
    END IF;
    -- Locks the memory before its lease, as all code does. A concurrent change of the text has invalidated the ticket, or waits.
    -- A short transaction is outwaited, so that no embedding is computed twice for it; a long one is not.
    BEGIN
        SELECT array_agg(l.id) INTO free
        FROM (
            SELECT m.id FROM pgrecall.memories m WHERE m.id = ANY (memory_ids) AND NOT m.is_sensitive
            ORDER BY m.id
            FOR NO KEY UPDATE
        ) l;
    EXCEPTION
        WHEN lock_not_available THEN
            SELECT array_agg(l.id) INTO free
            FROM (
                SELECT m.id FROM pgrecall.memories m WHERE m.id = ANY (memory_ids) AND NOT m.is_sensitive
                ORDER BY m.id
                FOR NO KEY UPDATE SKIP LOCKED
            ) l;
    END;
    PERFORM _pgrecall.release_jobs(
        worker, made_for, ARRAY(SELECT u.id FROM unnest(memory_ids) u (id) WHERE u.id <> ALL (COALESCE(free, '{}')))
    );
    SELECT array_agg(c.id), array_agg(c.content_hash), array_agg(c.embedding), array_agg(COALESCE(c.is_truncated, false)),
           jsonb_agg(complete_claimed.passages -> (c.place - 1)::integer)
    INTO ids, hashes, vectors, marks, parts
    FROM (
        SELECT DISTINCT ON (e.id) e.id, e.content_hash, e.embedding, e.is_truncated, e.place
        FROM unnest(memory_ids, tickets, content_hashes, embeddings, is_truncated)
            WITH ORDINALITY AS e (id, ticket, content_hash, embedding, is_truncated, place)
        JOIN pgrecall.jobs j ON j.memory_id = e.id AND j.kind = 'embedding' AND j.generation_id = made_for
        WHERE j.worker_id = worker AND j.ticket = e.ticket AND e.id = ANY (free)
        ORDER BY e.id
    ) c;
    IF ids IS NULL THEN
        RETURN 0;
    END IF;
    RETURN pgrecall.complete(
        worker, ids, hashes, vectors, made_for, marks, CASE WHEN complete_claimed.passages IS NOT NULL THEN parts END
    );
END
$function$;

ALTER FUNCTION pgrecall.complete_claimed OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.complete_claimed TO pgrecall_embedder;
