-- Leases memories to a worker for the extraction of names, times and facts, fair to namespaces, with a ticket each.
--
-- Half of a batch are the newest memories. The other half takes the newest of as many namespaces as possible, starting at a
-- random one: no tenant waits for another's. Each half ends after 128 kB of text, so that a claim of large memories is soon done.
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
    WITH RECURSIVE fresh AS MATERIALIZED (
        SELECT x.memory_id
        FROM pgrecall.extractions x
        WHERE x.is_pending AND x.enricher = claim_extractions.enricher
          AND NOT _pgrecall.is_ahead(x.lease_expires_at) AND NOT _pgrecall.is_ahead(x.next_attempt_at)
          AND x.next_attempt_at IS DISTINCT FROM 'infinity'
        ORDER BY x.memory_id DESC
        LIMIT batch
        FOR UPDATE SKIP LOCKED
    ), start AS MATERIALIZED (
        SELECT floor(random() * (max(n.id) + 1))::integer AS id FROM pgrecall.namespaces n
    ), turn (namespace_id, place) AS (
        -- Namespaces with pending memories, one index probe each: from a random one on, then from the first.
        SELECT s.id - 1, 0 FROM start s
        UNION ALL
        SELECT COALESCE(
                   (SELECT x.namespace_id FROM pgrecall.extractions x
                    WHERE x.is_pending AND x.enricher = claim_extractions.enricher AND x.namespace_id > t.namespace_id
                    ORDER BY x.namespace_id LIMIT 1),
                   CASE WHEN t.namespace_id >= s.id - 1 THEN -1 END
               ),
               t.place + 1
        FROM turn t
        CROSS JOIN start s
        WHERE t.namespace_id IS NOT NULL AND t.place <= batch
    ), home AS MATERIALIZED (
        SELECT t.namespace_id, min(t.place) AS place FROM turn t WHERE t.namespace_id >= 0 AND t.place > 0 GROUP BY t.namespace_id
    ), wanted AS MATERIALIZED (
        -- Half of a batch are the newest; of the other half, each namespace gets its share.
        SELECT f.memory_id, 0 AS half, row_number() OVER () AS place, 0 AS turn FROM fresh f
        UNION ALL
        SELECT p.memory_id, 1, p.place, h.place
        FROM home h
        CROSS JOIN LATERAL (
            SELECT o.memory_id, row_number() OVER (ORDER BY o.memory_id DESC) AS place
            FROM (
                SELECT x.memory_id
                FROM pgrecall.extractions x
                WHERE x.is_pending AND x.enricher = claim_extractions.enricher AND x.namespace_id = h.namespace_id
                  AND NOT _pgrecall.is_ahead(x.lease_expires_at) AND NOT _pgrecall.is_ahead(x.next_attempt_at)
                  AND x.next_attempt_at IS DISTINCT FROM 'infinity'
                ORDER BY x.memory_id DESC
                LIMIT greatest(batch / (SELECT count(*) FROM home), 1)
            ) o
        ) p
    ), sized AS (
        SELECT s.memory_id, s.half, row_number() OVER later AS place,
               COALESCE(sum(s.bytes) OVER (later ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS bytes_before
        FROM (
            -- A namespace's many bytes come late, as a rule: the more the later.
            SELECT w.memory_id, w.half, octet_length(m.content) AS bytes, w.turn,
                   CASE w.half WHEN 0 THEN w.place
                       ELSE random() * sum(octet_length(m.content)) OVER (PARTITION BY w.half, m.namespace_id ORDER BY w.place)
                   END AS rank
            FROM wanted w
            JOIN pgrecall.memories m ON m.id = w.memory_id
        ) s
        WINDOW later AS (PARTITION BY s.half ORDER BY s.rank, s.turn)
    ), chosen AS MATERIALIZED (
        SELECT s.memory_id, min(CASE WHEN s.half = 1 THEN 1 WHEN s.place <= (batch + 1) / 2 THEN 0 ELSE 2 END) AS turn
        FROM sized s
        WHERE s.bytes_before < 131072
        GROUP BY s.memory_id
        ORDER BY turn, s.memory_id DESC
        LIMIT batch
    ), free AS MATERIALIZED (
        SELECT x.memory_id
        FROM chosen c
        JOIN pgrecall.extractions x ON x.memory_id = c.memory_id AND x.enricher = claim_extractions.enricher
        WHERE x.is_pending AND NOT _pgrecall.is_ahead(x.lease_expires_at)
        FOR UPDATE OF x SKIP LOCKED
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

ALTER FUNCTION pgrecall.claim_extractions OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.claim_extractions TO pgrecall_embedder;
