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
-- jobs                       by kind (embedding, text, llm, notes, sparse, curation): pending, in_progress, retrying, failed, and
--                            seconds, the waiting time of the oldest that has not failed; null if none waits
CREATE OR REPLACE FUNCTION public.recall_status()
RETURNS TABLE (
    schema_revision text, bundle_hash text, model text, dimension integer, namespaces bigint, memories bigint,
    sensitive bigint, embedded bigint, pending bigint, in_progress bigint, retrying bigint, oldest_pending interval,
    workers integer, dense_index_valid boolean, dense_index_name text, server_version text, pgvector_version text,
    pending_extractions bigint, retrying_extractions bigint, failed_extractions bigint,
    oldest_pending_extraction interval, pending_llm_extractions bigint, pending_postings bigint,
    failed bigint, failures_by_cause jsonb, truncated bigint, per_second double precision, eta interval,
    generation integer, other_generation integer, other_state text, other_model text,
    dense_index_bytes bigint, memories_bytes bigint, analyzed_at timestamptz, due bigint, jobs jsonb
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
           jobs.texts, jobs.texts_retrying, jobs.texts_failed, now() - jobs.oldest_text, jobs.by_llm,
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
                ELSE alive.expired END,
           jobs.by_kind || jsonb_build_object('embedding', (jobs.by_kind -> 'embedding') || jsonb_build_object(
               'pending', alive.pending, 'seconds', EXTRACT(epoch FROM now() - alive.oldest_pending)::bigint
           ))
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
        LEFT JOIN pgrecall.jobs f
          -- Not m.id alone: to plan a merge join, the planner would look up the first and the last memory.
          ON f.memory_id = m.id + 0 AND f.kind = 'embedding' AND f.generation_id = g.id AND f.failed_at IS NOT NULL
        WHERE g.state = 'active'
    ) alive
    CROSS JOIN (
        SELECT sum(c.in_progress) FILTER (WHERE k.kind = 'embedding')::bigint AS in_progress,
               sum(c.retrying) FILTER (WHERE k.kind = 'embedding')::bigint AS retrying,
               sum(c.pending) FILTER (WHERE k.kind = 'text')::bigint AS texts,
               sum(c.retrying) FILTER (WHERE k.kind = 'text')::bigint AS texts_retrying,
               sum(c.failed) FILTER (WHERE k.kind = 'text')::bigint AS texts_failed,
               min(c.oldest) FILTER (WHERE k.kind = 'text') AS oldest_text,
               sum(c.pending) FILTER (WHERE k.kind = 'llm')::bigint AS by_llm,
               jsonb_object_agg(k.kind, jsonb_build_object(
                   'pending', c.pending, 'in_progress', c.in_progress, 'retrying', c.retrying, 'failed', c.failed,
                   'seconds', EXTRACT(epoch FROM now() - c.oldest_waiting)::bigint
               )) AS by_kind
        FROM _pgrecall.job_kinds() k
        CROSS JOIN LATERAL (
            SELECT count(*) AS pending,
                   count(*) FILTER (WHERE _pgrecall.is_ahead(j.lease_expires_at)) AS in_progress,
                   count(*) FILTER (WHERE j.next_attempt_at IS NOT NULL AND j.attempts > 0 AND j.failed_at IS NULL) AS retrying,
                   count(j.failed_at) AS failed, min(j.waiting_since) AS oldest,
                   min(j.waiting_since) FILTER (WHERE j.failed_at IS NULL) AS oldest_waiting
            FROM pgrecall.jobs j
            WHERE j.kind = k.kind AND j.generation_id = CASE WHEN k.of_generation THEN pgrecall.active_generation() ELSE 0 END
        ) c
    ) jobs
    CROSS JOIN (
        SELECT COALESCE(sum(c.failed), 0)::bigint AS failed,
               COALESCE(jsonb_object_agg(c.cause, c.failed), '{}') AS by_cause
        FROM (
            SELECT f.cause, count(*) AS failed FROM pgrecall.jobs f
            WHERE f.kind = 'embedding' AND f.failed_at IS NOT NULL AND f.generation_id = pgrecall.active_generation()
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
