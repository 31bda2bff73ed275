-- Returns one row: what is installed, how much is stored, how much waits for embedding or extraction, the current rate, and
-- the workers.
--
-- Numbers of embeddings are the active generation's. Lists are functions of their own: generation_progress(),
-- worker_status(), failures(), index_status().
--
-- pending           memories without an embedding that should have one; in progress, retrying and failed ones included
-- in_progress       leased to a worker now;  retrying  waiting for another attempt after an error
-- failed            no longer retried; failures_by_cause counts the causes
-- oldest_pending    waiting time of the oldest pending memory that has not failed
-- truncated         only the beginning was embedded
-- workers           daemons with a heartbeat in the last 30 seconds
-- per_second        their embedding rate at the last heartbeat
-- eta               estimated time for the pending memories that have not failed
-- other_generation  one that is being built, or the one before (other_state: building, retired)
-- pending_extractions        memories waiting for extraction of names, times and facts; retrying and failed ones included
-- retrying_extractions       waiting for another attempt after an error;  failed_extractions  no longer retried
-- oldest_pending_extraction  waiting time of the oldest of them, failed ones included
-- pending_llm_extractions    memories waiting for the language model, if enabled
-- pending_postings           memories that are not in the postings yet; recall reads their words from the rows
-- dense_index_bytes, memories_bytes  for roles that see every namespace; else NULL
-- due                        memories to be forgotten or erased by expire_memories()
-- analyzed_at                when the planner's statistics of memories were refreshed; NULL: not known
CREATE OR REPLACE FUNCTION public.recall_status()
RETURNS TABLE (
    schema_revision text, bundle_hash text, model text, dimension integer, namespaces bigint, memories bigint,
    sensitive bigint, embedded bigint, pending bigint, in_progress bigint, retrying bigint, oldest_pending interval,
    workers integer, dense_index_valid boolean, dense_index_name text, server_version text, pgvector_version text,
    pending_extractions bigint, retrying_extractions bigint, failed_extractions bigint,
    oldest_pending_extraction interval, pending_llm_extractions bigint, pending_postings bigint,
    failed bigint, failures_by_cause jsonb, truncated bigint, per_second double precision, eta interval,
    generation integer, other_generation integer, other_state text, other_model text,
    dense_index_bytes bigint, memories_bytes bigint, analyzed_at timestamptz, due bigint
)
-- Restricted, as the statistics are.
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 1
SET search_path FROM CURRENT
BEGIN ATOMIC
    SELECT (SELECT v.version_num FROM pgrecall.alembic_version v),
           pgrecall.bundle_hash(),
           active.model, active.dimension,
           (SELECT count(*) FROM pgrecall.namespaces),
           alive.memories, alive.sensitive, alive.embedded, alive.pending,
           jobs.in_progress, jobs.retrying, now() - alive.oldest_pending,
           workers.alive,
           COALESCE(dense.valid, false), dense.name,
           current_setting('server_version'),
           (SELECT e.extversion FROM pg_extension e WHERE e.extname = 'vector'),
           extractions.pending, extractions.retrying, extractions.failed, now() - extractions.oldest, extractions.by_llm,
           (SELECT count(*) FROM pgrecall.pending_postings),
           failures.failed, failures.by_cause,
           (SELECT count(*) FROM pgrecall.truncated_embeddings t WHERE t.generation_id = active.id),
           workers.per_second,
           make_interval(secs => (alive.pending - failures.failed) / NULLIF(workers.per_second, 0)),
           active.id, other.id, other.state, other.model,
           CASE WHEN _pgrecall.sees_all() THEN dense.bytes END,
           CASE WHEN _pgrecall.sees_all() THEN pg_table_size('pgrecall.memories') END, tables.analyzed_at,
           -- Without a rule no memory is read for it.
           CASE WHEN EXISTS (SELECT FROM pgrecall.retention) THEN (SELECT count(*) FROM _pgrecall.due_memories(NULL))
                ELSE alive.expired END
    FROM (
        SELECT count(*) AS memories,
               count(*) FILTER (WHERE m.is_sensitive) AS sensitive,
               count(*) FILTER (WHERE m.is_embedded) AS embedded,
               count(*) FILTER (WHERE m.is_pending) AS pending,
               count(*) FILTER (WHERE m.expires_at <= now()) AS expired,
               min(m.updated_at) FILTER (WHERE m.is_pending AND f.memory_id IS NULL) AS oldest_pending
        -- Not by active_generation(), which would be looked up for every memory.
        FROM pgrecall.generations g
        CROSS JOIN LATERAL (
            SELECT m.id, m.updated_at, m.expires_at, m.is_sensitive, _pgrecall.embedding_of(m, g.id) IS NOT NULL AS is_embedded,
                   _pgrecall.embedding_of(m, g.id) IS NULL AND NOT m.is_sensitive AS is_pending
            FROM pgrecall.memories m
            WHERE m.deleted_at IS NULL
        ) m
        LEFT JOIN pgrecall.embedding_failures f ON f.memory_id = m.id AND f.generation_id = g.id
        WHERE g.state = 'active'
    ) alive
    CROSS JOIN (
        SELECT count(*) FILTER (WHERE _pgrecall.is_ahead(j.lease_expires_at)) AS in_progress,
               count(*) FILTER (WHERE j.next_attempt_at IS NOT NULL) AS retrying
        FROM pgrecall.embedding_jobs j
        WHERE j.generation_id = pgrecall.active_generation()
    ) jobs
    CROSS JOIN (
        SELECT COALESCE(sum(c.failed), 0)::bigint AS failed,
               COALESCE(jsonb_object_agg(c.cause, c.failed), '{}') AS by_cause
        FROM (
            SELECT f.cause, count(*) AS failed FROM pgrecall.embedding_failures f
            WHERE f.generation_id = pgrecall.active_generation()
            GROUP BY f.cause
        ) c
    ) failures
    CROSS JOIN (
        SELECT count(*)::integer AS alive,
               COALESCE(sum(w.per_second) FILTER (WHERE pgrecall.active_generation() = ANY (w.generations)), 0)
                   AS per_second
        FROM pgrecall.worker_status() w
        WHERE w.is_alive
    ) workers
    CROSS JOIN (
        SELECT count(*) FILTER (WHERE x.enricher = 'text') AS pending,
               count(*) FILTER (
                   WHERE x.enricher = 'text' AND x.attempts > 0 AND x.next_attempt_at IS DISTINCT FROM 'infinity'
               ) AS retrying,
               count(*) FILTER (WHERE x.enricher = 'text' AND x.next_attempt_at = 'infinity') AS failed,
               min(x.waiting_since) FILTER (WHERE x.enricher = 'text') AS oldest,
               count(*) FILTER (WHERE x.enricher = 'llm') AS by_llm
        FROM pgrecall.extractions x
        WHERE x.is_pending
    ) extractions
    LEFT JOIN (
        SELECT g.id, g.dimension, g.column_name, m.name AS model
        FROM pgrecall.generations g LEFT JOIN pgrecall.embedding_models m ON m.id = g.model_id
        WHERE g.state = 'active'
    ) active ON true
    LEFT JOIN (
        SELECT g.id, g.state, m.name AS model
        FROM pgrecall.generations g LEFT JOIN pgrecall.embedding_models m ON m.id = g.model_id
        WHERE g.state <> 'active'
    ) other ON true
    LEFT JOIN (
        SELECT i.indisvalid AND i.indisready AS valid, c.relname::text AS name, pg_relation_size(c.oid) AS bytes
        FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
        WHERE i.indrelid = 'pgrecall.memories'::regclass
    ) dense ON dense.name = 'memories_' || active.column_name || '_idx'
    LEFT JOIN (
        SELECT greatest(t.last_analyze, t.last_autoanalyze) AS analyzed_at
        FROM pg_stat_all_tables t WHERE t.relid = 'pgrecall.memories'::regclass
    ) tables ON true;
END;

ALTER FUNCTION public.recall_status OWNER TO pgrecall_gate;

REVOKE ALL ON FUNCTION public.recall_status FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder;
GRANT EXECUTE ON FUNCTION public.recall_status TO pgrecall_reader;
