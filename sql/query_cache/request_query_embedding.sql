-- Asks for the embedding of a query, for a client that has no model: from the cache, else from an embedder.
--
-- Without a vector and an error the question is put: LISTEN pgrecall_answer, or look again with get_query_embedding(id). An
-- embedder that is alive answers first of all its work; where none is, nothing is written. The text stays only until it is
-- answered, then its hash. Each role has a cache of its own, so that none learns what another asks.
--
-- query  as recall() gets it
--
-- id     of the question; in the notification of its answer;  model  that embeds it: the setting query_model of the recall
-- error  why there is none
--
-- The server sets times and role, so nobody is served out of turn. A role may have a thousand questions unanswered.
--
-- Errors  22023 an empty query;  54000 a query too long, too many unanswered;  25006 on a standby
CREATE OR REPLACE FUNCTION pgrecall.request_query_embedding(query text)
RETURNS TABLE (id bigint, embedding pgvector.halfvec, model text, error text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET search_path FROM CURRENT
AS $function$
#variable_conflict use_column
DECLARE
    hash bytea := sha256(convert_to(COALESCE(request_query_embedding.query, ''), 'UTF8'));
    asking CONSTANT regrole := pgrecall.session_role();
    most_unanswered CONSTANT integer := 1000;
    used_anew CONSTANT interval := interval '1 hour';
    failed_for CONSTANT interval := interval '10 seconds';
    active record;
    known record;
BEGIN
    IF COALESCE(request_query_embedding.query, '') !~ '[^[:space:]]' THEN
        RAISE EXCEPTION 'the query is empty'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'There is nothing to embed.';
    ELSIF length(request_query_embedding.query) > 16384 THEN
        RAISE EXCEPTION 'the query has % characters; 16384 is the limit', length(request_query_embedding.query)
            USING ERRCODE = 'program_limit_exceeded', HINT = 'Recall by the question, not by a whole document.';
    END IF;
    SELECT g.id, m.name INTO active
    FROM pgrecall.generations g
    JOIN pgrecall.embedding_models m ON m.id = g.model_id
    WHERE g.state = 'active';
    IF active.id IS NULL THEN
        RETURN QUERY SELECT NULL::bigint, NULL::pgvector.halfvec, NULL::text, 'the database has no embedding model';
        RETURN;
    END IF;

    SELECT q.id, q.embedding, q.error, q.used_at INTO known
    FROM pgrecall.query_embeddings q
    WHERE q.generation_id = active.id AND q.role = asking AND q.query_hash = hash
      AND (q.embedding IS NOT NULL OR q.error IS NOT NULL AND q.answered_at > clock_timestamp() - failed_for);
    IF FOUND THEN
        -- Written now and then only: being read must not cost a write each time.
        IF known.used_at < clock_timestamp() - used_anew THEN
            UPDATE pgrecall.query_embeddings q SET used_at = clock_timestamp() WHERE q.id = known.id;
        END IF;
        RETURN QUERY SELECT known.id, known.embedding, active.name, known.error;
        RETURN;
    ELSIF NOT EXISTS (
        SELECT FROM pgrecall.workers w
        WHERE w.last_seen_at > now() - interval '30 seconds' AND active.id = ANY (w.generations)
    ) THEN
        RETURN QUERY SELECT NULL::bigint, NULL::pgvector.halfvec, active.name, 'no embedder is alive';
        RETURN;
    ELSIF EXISTS (
        SELECT FROM pgrecall.query_embeddings q
        WHERE q.generation_id = active.id AND q.role = asking AND q.answered_at IS NULL
          AND q.query_hash <> hash AND q.requested_at > clock_timestamp() - interval '1 minute'
        OFFSET most_unanswered - 1
    ) THEN
        RAISE EXCEPTION 'role "%" has % unanswered questions', asking, most_unanswered
            USING ERRCODE = 'program_limit_exceeded',
                  HINT = 'Wait for their answers, or recall without a vector. What nobody answers is gone after a minute.';
    END IF;

    RETURN QUERY
    INSERT INTO pgrecall.query_embeddings AS q (generation_id, role, query_hash, query)
    VALUES (active.id, asking, hash, request_query_embedding.query)
    ON CONFLICT ON CONSTRAINT query_embeddings_pkey DO UPDATE
        SET query = excluded.query, error = NULL, answered_at = NULL, requested_at = excluded.requested_at,
            used_at = excluded.used_at, leased_until = CASE WHEN q.query IS NOT NULL THEN q.leased_until END
        WHERE q.embedding IS NULL
    RETURNING q.id, NULL::pgvector.halfvec, active.name, NULL::text;
    IF NOT FOUND THEN
        -- Answered between the look and the insertion.
        RETURN QUERY SELECT q.id, q.embedding, active.name, q.error
        FROM pgrecall.query_embeddings q
        WHERE q.generation_id = active.id AND q.role = asking AND q.query_hash = hash;
    END IF;
    PERFORM pg_notify('pgrecall_query', '');
END
$function$;

COMMENT ON FUNCTION pgrecall.request_query_embedding IS
    'Asks for the embedding of a query: from the cache, else from an embedder, whose answer get_query_embedding() returns.';

ALTER FUNCTION pgrecall.request_query_embedding OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.request_query_embedding TO pgrecall_reader;
