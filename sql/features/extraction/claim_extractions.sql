-- Leases memories to a worker for the extraction of names, times and facts, fair to namespaces, with a ticket each.
--
-- Half of a batch are the newest memories, the other half the newest of as many namespaces as possible (job_choice).
-- Skips rows that another worker is claiming at this moment. Commit before extracting: the lease outlives the transaction.
-- Pass the ticket to complete_extractions(), complete_notes() or fail_extraction(). An expired lease counts as an attempt.
--
-- enricher  text, llm, notes or sparse
-- batch     maximum number of memories
-- lease     when another worker may claim them
--
-- anchor    time of the statement; relative times such as "last week" refer to it
--
-- Errors  22023 a batch or lease out of range, another enricher
CREATE OR REPLACE FUNCTION pgrecall.claim_extractions(
    worker uuid, enricher text DEFAULT 'text', batch integer DEFAULT 64, lease interval DEFAULT '5 minutes'
)
RETURNS TABLE (
    memory_id bigint, ticket bigint, namespace_id integer, title text, content text, speaker text, anchor timestamptz,
    language text
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 64
SET search_path FROM CURRENT
AS $function$
DECLARE
    active pgrecall.generations;
    ids bigint[];
    tickets bigint[];
BEGIN
    PERFORM _pgrecall.check_enricher(enricher);
    SELECT g.* INTO active FROM pgrecall.generations g WHERE g.id = pgrecall.active_generation();
    SELECT array_agg(l.memory_id), array_agg(l.ticket) INTO ids, tickets
    FROM _pgrecall.lease_jobs(enricher, worker, batch, lease, active) l;
    -- By EXECUTE: a plan made while the tables were empty would scan them from then on.
    RETURN QUERY EXECUTE $statement$
        SELECT m.id, l.ticket, m.namespace_id, m.title, m.content, m.speaker, COALESCE(m.occurred_at, m.created_at), m.language
        FROM unnest($1, $2) l (id, ticket)
        JOIN pgrecall.memories m ON m.id = l.id
        WHERE NOT m.is_sensitive AND m.deleted_at IS NULL
        ORDER BY m.id DESC
    $statement$
    USING ids, tickets;
END
$function$;

ALTER FUNCTION pgrecall.claim_extractions OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.claim_extractions TO pgrecall_embedder;
