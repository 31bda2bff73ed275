-- Queries that wait for their embedding, the newest first; they are this worker's for five seconds.
--
-- Whoever asked waits for a fraction of a second: what is older than a minute is deleted unanswered.
CREATE OR REPLACE FUNCTION pgrecall.claim_queries(generation integer, batch integer DEFAULT 16)
RETURNS TABLE (id bigint, query text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 4
SET search_path FROM CURRENT
AS $function$
#variable_conflict use_column
BEGIN
    DELETE FROM pgrecall.query_embeddings q
    WHERE q.answered_at IS NULL AND q.requested_at < clock_timestamp() - interval '1 minute';
    RETURN QUERY
    WITH waiting AS MATERIALIZED (
        SELECT q.id FROM pgrecall.query_embeddings q
        WHERE q.answered_at IS NULL AND q.generation_id = claim_queries.generation
          AND (q.leased_until IS NULL OR q.leased_until < clock_timestamp())
        ORDER BY q.requested_at DESC
        LIMIT batch
        FOR UPDATE SKIP LOCKED
    )
    UPDATE pgrecall.query_embeddings q SET leased_until = clock_timestamp() + interval '5 seconds'
    FROM waiting w WHERE q.id = w.id
    RETURNING q.id, q.query;
END
$function$;

COMMENT ON FUNCTION pgrecall.claim_queries IS 'Queries that wait for their embedding, the newest first, leased for five seconds.';

ALTER FUNCTION pgrecall.claim_queries OWNER TO pgrecall_gate;
