-- Returns the progress of each generation of embeddings, the active one first: embedded, pending, failed, and the estimated
-- time left.
--
-- pending         memories without an embedding that should have one; in progress, retrying and failed ones included
-- in_progress     leased to a worker now;  retrying  waiting for another attempt after an error
-- failed          no longer retried (failures);  truncated  only the beginning was embedded
-- oldest_pending  waiting time of the oldest pending memory that has not failed
-- per_second      embedding rate of its daemons at their last heartbeat; NULL: none is alive
-- eta             estimated time for the pending memories that have not failed
--
-- Reads every memory: a million take seconds.
CREATE OR REPLACE FUNCTION pgrecall.generation_progress()
RETURNS TABLE (
    generation integer, state text, model text, dimension integer, provider text, embedded bigint, pending bigint,
    in_progress bigint, retrying bigint, failed bigint, truncated bigint, oldest_pending interval, per_second double precision,
    eta interval
)
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 2
SET search_path FROM CURRENT
BEGIN ATOMIC
    SELECT g.id, g.state, m.name, g.dimension, m.provider, n.embedded, n.pending,
           j.in_progress, j.retrying, n.failed, t.truncated, now() - n.oldest, w.per_second,
           make_interval(secs => (n.pending - n.failed) / NULLIF(w.per_second, 0))
    FROM pgrecall.generations g
    LEFT JOIN pgrecall.embedding_models m ON m.id = g.model_id
    CROSS JOIN LATERAL (
        SELECT count(*) FILTER (WHERE s.is_embedded) AS embedded,
               count(*) FILTER (WHERE NOT s.is_embedded) AS pending,
               count(*) FILTER (WHERE NOT s.is_embedded AND s.is_failed) AS failed,
               min(s.updated_at) FILTER (WHERE NOT s.is_embedded AND NOT s.is_failed) AS oldest
        FROM (
            SELECT _pgrecall.embedding_of(m, g.id) IS NOT NULL AS is_embedded, f.memory_id IS NOT NULL AS is_failed, m.updated_at
            FROM pgrecall.memories m
            LEFT JOIN pgrecall.jobs f
              ON f.memory_id = m.id AND f.kind = 'embedding' AND f.generation_id = g.id AND f.failed_at IS NOT NULL
            WHERE m.deleted_at IS NULL AND NOT m.is_sensitive
        ) s
    ) n
    CROSS JOIN LATERAL (
        SELECT count(*) FILTER (WHERE _pgrecall.is_ahead(j.lease_expires_at)) AS in_progress,
               count(*) FILTER (WHERE _pgrecall.is_ahead(j.next_attempt_at) AND j.failed_at IS NULL) AS retrying
        FROM pgrecall.jobs j WHERE j.kind = 'embedding' AND j.generation_id = g.id
    ) j
    CROSS JOIN LATERAL (SELECT count(*) AS truncated FROM pgrecall.truncated_embeddings t WHERE t.generation_id = g.id) t
    CROSS JOIN LATERAL (
        SELECT sum(w.per_second) AS per_second FROM pgrecall.workers w
        WHERE g.id = ANY (w.generations) AND _pgrecall.is_recent(w.last_seen_at, '30 seconds')
    ) w
    ORDER BY g.state;
END;

ALTER FUNCTION pgrecall.generation_progress OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.generation_progress TO pgrecall_reader;
