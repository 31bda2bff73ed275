-- Requests the embedding of a query, for a client without a model: from the cache, else from a daemon, whose answer
-- get_query_embedding() returns.
--
-- If vector and error are both NULL, the request is queued: LISTEN pgrecall_answer, or poll get_query_embedding(id). A daemon
-- answers requests before all other work. Without a daemon, nothing is queued. The text is deleted with the answer, and its
-- hash stays. Each role has its own cache, so that no role learns another's queries.
--
-- query  as passed to recall(); its question_part() is embedded
--
-- id     of the request, and payload of the notification;  model  its model: pass it to recall as setting query_model
-- error  why there is no embedding
-- poll_seconds  of a queued request: seconds between two looks of the daemon that looks most often; 0: it is notified. Who
--               waits for less gets no answer, but finds it in the cache later
--
-- The server sets times and role, so no client can jump the queue. A role may have a thousand unanswered requests.
--
-- Errors  22023 an empty query;  54000 a query too long, too many unanswered;  25006 on a standby
CREATE OR REPLACE FUNCTION pgrecall.request_query_embedding(query text)
RETURNS TABLE (id bigint, embedding pgvector.halfvec, model text, error text, poll_seconds real)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET search_path FROM CURRENT
AS $function$
#variable_conflict use_column
DECLARE
    asked CONSTANT text := pgrecall.question_part(request_query_embedding.query);
    hash CONSTANT bytea := sha256(convert_to(COALESCE(asked, ''), 'UTF8'));
    asking CONSTANT regrole := pgrecall.session_role();
    most_unanswered CONSTANT integer := 1000;
    used_anew CONSTANT interval := interval '1 hour';
    failed_for CONSTANT interval := interval '10 seconds';
    active record;
    attention real;
    known record;
BEGIN
    IF _pgrecall.is_blank(request_query_embedding.query) THEN
        RAISE EXCEPTION 'the query is empty'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass the text to embed.';
    ELSIF length(request_query_embedding.query) > 16384 THEN
        RAISE EXCEPTION 'the query has % characters; 16384 is the limit', length(request_query_embedding.query)
            USING ERRCODE = 'program_limit_exceeded', HINT = 'Pass a question, not a whole document.';
    END IF;
    SELECT g.id, m.name INTO active
    FROM pgrecall.generations g
    JOIN pgrecall.embedding_models m ON m.id = g.model_id
    WHERE g.state = 'active';
    IF active.id IS NULL THEN
        RETURN QUERY SELECT NULL::bigint, NULL::pgvector.halfvec, NULL::text, 'the database has no embedding model', NULL::real;
        RETURN;
    END IF;

    SELECT q.id, q.embedding, q.error, q.used_at INTO known
    FROM pgrecall.query_embeddings q
    WHERE q.generation_id = active.id AND q.role = asking AND q.query_hash = hash
      AND (q.embedding IS NOT NULL OR q.error IS NOT NULL AND _pgrecall.is_recent(q.answered_at, failed_for));
    IF FOUND THEN
        -- Updated only occasionally, so that a cache hit rarely costs a write.
        IF NOT _pgrecall.is_recent(known.used_at, used_anew) THEN
            UPDATE pgrecall.query_embeddings q SET used_at = clock_timestamp()
            WHERE q.id = (SELECT o.id FROM pgrecall.query_embeddings o WHERE o.id = known.id FOR NO KEY UPDATE SKIP LOCKED);
        END IF;
        RETURN QUERY SELECT known.id, known.embedding, active.name, known.error, NULL::real;
        RETURN;
    END IF;
    SELECT min(w.poll_seconds) INTO attention
    FROM pgrecall.workers w
    WHERE _pgrecall.is_recent(w.last_seen_at, '30 seconds') AND active.id = ANY (w.generations);
    IF attention IS NULL THEN
        -- No daemon deletes them meanwhile.
        DELETE FROM pgrecall.query_embeddings q
        WHERE q.role = asking AND q.answered_at IS NULL AND NOT _pgrecall.is_recent(q.requested_at, '1 minute');
        RETURN QUERY SELECT NULL::bigint, NULL::pgvector.halfvec, active.name, 'no embedder is alive', NULL::real;
        RETURN;
    ELSIF EXISTS (
        SELECT FROM pgrecall.query_embeddings q
        WHERE q.generation_id = active.id AND q.role = asking AND q.answered_at IS NULL
          AND q.query_hash <> hash AND _pgrecall.is_recent(q.requested_at, '1 minute')
        OFFSET most_unanswered - 1
    ) THEN
        RAISE EXCEPTION 'role "%" has % unanswered questions', asking, most_unanswered
            USING ERRCODE = 'program_limit_exceeded',
                  HINT = 'Wait for their answers, or recall without a vector. Unanswered requests are deleted after a minute.';
    END IF;

    -- An erasure may delete it, in a transaction that stays open. It is nobody's to wait for.
    SELECT q.id INTO known FROM pgrecall.query_embeddings q
    WHERE q.generation_id = active.id AND q.role = asking AND q.query_hash = hash;
    IF FOUND THEN
        PERFORM FROM pgrecall.query_embeddings q WHERE q.id = known.id FOR UPDATE SKIP LOCKED;
        IF NOT FOUND THEN
            RETURN QUERY SELECT known.id, NULL::pgvector.halfvec, active.name, NULL::text, attention;
            RETURN;
        END IF;
    END IF;
    RETURN QUERY
    INSERT INTO pgrecall.query_embeddings AS q (generation_id, role, query_hash, query)
    VALUES (active.id, asking, hash, asked)
    ON CONFLICT ON CONSTRAINT query_embeddings_pkey DO UPDATE
        SET query = excluded.query, error = NULL, answered_at = NULL, requested_at = excluded.requested_at,
            used_at = excluded.used_at, lease_expires_at = CASE WHEN q.query IS NOT NULL THEN q.lease_expires_at END
        WHERE q.embedding IS NULL
    RETURNING q.id, NULL::pgvector.halfvec, active.name, NULL::text, attention;
    IF NOT FOUND THEN
        -- Answered between the lookup and the insertion.
        RETURN QUERY SELECT q.id, q.embedding, active.name, q.error, NULL::real
        FROM pgrecall.query_embeddings q
        WHERE q.generation_id = active.id AND q.role = asking AND q.query_hash = hash;
    END IF;
    PERFORM _pgrecall.send_notification('pgrecall_query');
END
$function$;

ALTER FUNCTION pgrecall.request_query_embedding OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.request_query_embedding TO pgrecall_reader;
