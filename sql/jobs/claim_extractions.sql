-- Leases memories to a worker for extraction, newest first.
--
-- Skips rows that another worker is claiming at this moment. Commit before extracting: the lease outlives the transaction.
-- Pass the ticket to complete_extractions(), complete_notes() or fail_extraction().
--
-- enricher  text, llm or notes
-- batch     maximum number of memories
-- lease     when another worker may claim them
--
-- anchor    time of the statement; relative times such as "last week" refer to it
--
-- Errors  22023 a batch or lease out of range
CREATE OR REPLACE FUNCTION pgrecall.claim_extractions(
    worker uuid, enricher text DEFAULT 'text', batch integer DEFAULT 64, lease interval DEFAULT '5 minutes'
)
RETURNS TABLE (
    memory_id bigint, ticket bigint, namespace_id integer, title text, content text, speaker text, anchor timestamptz,
    language text
)
LANGUAGE sql VOLATILE SECURITY DEFINER ROWS 64
SET search_path FROM CURRENT
BEGIN ATOMIC
    SELECT _pgrecall.check_claim(batch, lease);
    WITH free AS MATERIALIZED (
        SELECT x.memory_id
        FROM pgrecall.extractions x
        WHERE x.is_pending AND x.enricher = claim_extractions.enricher
          AND NOT _pgrecall.is_ahead(x.lease_expires_at) AND NOT _pgrecall.is_ahead(x.next_attempt_at)
          AND x.next_attempt_at IS DISTINCT FROM 'infinity'
        ORDER BY x.memory_id DESC
        LIMIT batch
        FOR UPDATE SKIP LOCKED
    ), claimed AS (
        UPDATE pgrecall.extractions x
        SET worker_id = worker, lease_expires_at = clock_timestamp() + lease, next_attempt_at = NULL,
            ticket = _pgrecall.random_ticket()
        FROM free f
        WHERE x.memory_id = f.memory_id AND x.enricher = claim_extractions.enricher
        RETURNING x.memory_id, x.ticket
    )
    SELECT m.id, l.ticket, m.namespace_id, m.title, m.content, m.speaker, COALESCE(m.occurred_at, m.created_at), m.language
    FROM claimed l
    JOIN pgrecall.memories m ON m.id = l.memory_id
    WHERE NOT m.is_sensitive AND m.deleted_at IS NULL
    ORDER BY m.id DESC;
END;

COMMENT ON FUNCTION pgrecall.claim_extractions IS
    'Leases memories to a worker for the extraction of names, times and facts, newest first, with a ticket each.';

ALTER FUNCTION pgrecall.claim_extractions OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.claim_extractions TO pgrecall_embedder;
