-- Leases pending memories to a worker, newest first, with the text to embed.
--
-- A memory is pending while its embedding is NULL, it is not sensitive and not forgotten. Rows that another worker is
-- claiming at this moment are skipped, not waited for. Commit before embedding: the lease holds, not the transaction.
--
-- batch  how many at the most;  lease  after how long another worker may have them
CREATE OR REPLACE FUNCTION pgrecall.claim(worker uuid, batch integer DEFAULT 64, lease interval DEFAULT '2 minutes')
RETURNS TABLE (memory_id bigint, content_hash bytea, content text)
LANGUAGE sql VOLATILE ROWS 64
BEGIN ATOMIC
    WITH free AS MATERIALIZED (
        SELECT m.id
        FROM pgrecall.memories m
        WHERE m.embedding IS NULL AND NOT m.is_sensitive AND m.deleted_at IS NULL
          AND NOT EXISTS (
                SELECT FROM pgrecall.embedding_jobs j
                WHERE j.memory_id = m.id AND greatest(j.lease_expires_at, j.next_attempt_at) > clock_timestamp()
            )
        ORDER BY m.id DESC
        LIMIT batch
        FOR NO KEY UPDATE OF m SKIP LOCKED
    ), leased AS (
        -- Another claim may have committed after this one's snapshot: then its lease stands.
        INSERT INTO pgrecall.embedding_jobs AS j (memory_id, worker_id, lease_expires_at)
        SELECT f.id, worker, clock_timestamp() + lease FROM free f
        ON CONFLICT ON CONSTRAINT embedding_jobs_pkey DO UPDATE
            SET worker_id = excluded.worker_id, lease_expires_at = excluded.lease_expires_at, next_attempt_at = NULL
            WHERE greatest(j.lease_expires_at, j.next_attempt_at) IS NULL
               OR greatest(j.lease_expires_at, j.next_attempt_at) <= clock_timestamp()
        RETURNING j.memory_id
    )
    SELECT m.id, m.content_hash,
           pgrecall.embedding_text(m.title, m.content, m.expanded_keywords, recipe.recipe)
    FROM leased l
    JOIN pgrecall.memories m ON m.id = l.memory_id
    CROSS JOIN (SELECT pgrecall.embedding_recipe() AS recipe) recipe
    ORDER BY m.id DESC;
END;

COMMENT ON FUNCTION pgrecall.claim IS
    'Leases pending memories to a worker, newest first, with the text to embed and the hash that complete() wants back.';
