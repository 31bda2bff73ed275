-- recall_status: what is installed, how much is stored, what waits to be embedded and read, who works on it. One row.
--
-- pending        memories without an embedding that should have one, in progress and failed ones included
-- in_progress    leased to a worker now;  failed  waiting for another attempt after an error
-- unread         memories that are to be read for names, times and facts, failed ones (unread_failed) included
-- workers        daemons with a heartbeat in the last 30 seconds
CREATE OR REPLACE FUNCTION public.recall_status()
RETURNS TABLE (
    schema_revision text, bundle_hash text, model text, dimension integer, namespaces bigint, memories bigint,
    sensitive bigint, embedded bigint, pending bigint, in_progress bigint, failed bigint, oldest_pending interval,
    workers integer, dense_index_valid boolean, dense_index_name text, server_version text, pgvector_version text,
    unread bigint, unread_failed bigint, oldest_unread interval
)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 1
BEGIN ATOMIC
    SELECT (SELECT v.version_num FROM pgrecall.alembic_version v),
           pgrecall.bundle_hash(),
           (SELECT a.name FROM pgrecall.active_model() a),
           pgrecall.embedding_dimension(),
           (SELECT count(*) FROM pgrecall.namespaces),
           alive.memories, alive.sensitive, alive.embedded, alive.pending,
           jobs.in_progress, jobs.failed, now() - alive.oldest_pending,
           (SELECT count(*)::integer FROM pgrecall.workers w WHERE w.last_seen_at > now() - interval '30 seconds'),
           COALESCE(dense.valid, false), dense.name,
           current_setting('server_version'),
           (SELECT e.extversion FROM pg_extension e WHERE e.extname = 'vector'),
           waiting.unread, waiting.unread_failed, now() - waiting.since
    FROM (
        SELECT count(*) AS memories,
               count(*) FILTER (WHERE m.is_sensitive) AS sensitive,
               count(m.embedding) AS embedded,
               count(*) FILTER (WHERE m.embedding IS NULL AND NOT m.is_sensitive) AS pending,
               min(m.updated_at) FILTER (WHERE m.embedding IS NULL AND NOT m.is_sensitive) AS oldest_pending
        FROM pgrecall.memories m
        WHERE m.deleted_at IS NULL
    ) alive
    CROSS JOIN (
        SELECT count(*) FILTER (WHERE j.lease_expires_at > now()) AS in_progress,
               count(*) FILTER (WHERE j.next_attempt_at IS NOT NULL) AS failed
        FROM pgrecall.embedding_jobs j
    ) jobs
    CROSS JOIN (
        SELECT count(*) AS unread, count(*) FILTER (WHERE x.attempts > 0) AS unread_failed, min(x.waiting_since) AS since
        FROM pgrecall.extractions x
        WHERE x.is_pending AND x.enricher = 'text'
    ) waiting
    LEFT JOIN (
        SELECT i.indisvalid AS valid, c.relname::text AS name
        FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
        WHERE i.indrelid = 'pgrecall.memories'::regclass AND c.relname = 'memories_embedding_idx'
    ) dense ON true;
END;

COMMENT ON FUNCTION public.recall_status IS
    'What is installed, how much is stored, what waits to be embedded or read and since when, how many embedders are alive. One row.';
