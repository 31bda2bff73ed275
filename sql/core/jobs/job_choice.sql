-- Returns the statement that chooses the memories of a claim, of whatever kind.
--
-- Half of a batch are the first of the kind's order: the most recently written, or the oldest. The other half takes the first of
-- as many namespaces as possible, starting at a random one. So a fresh memory does not wait for a backlog, and no tenant waits
-- for another's. The texts of a batch have 256 kB, or little more: then it is smaller.
--
-- kind, of_generation, oldest_first, ready  a row of job_kinds();  column_name  that of the generation
--
-- The statement's parameters: $1 generation, $2 batch, $3 the namespace to start at, $4 bytes of text. It returns one array.
CREATE OR REPLACE FUNCTION _pgrecall.job_choice(
    kind text, of_generation boolean, oldest_first boolean, ready text, column_name text
)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT format($statement$
        WITH RECURSIVE fresh AS MATERIALIZED (
            SELECT %1$s AS id, %6$s AS bytes
            FROM %2$s m
            WHERE %3$s AND %4$s
            ORDER BY %5$s
            LIMIT $2
            FOR NO KEY UPDATE SKIP LOCKED
        ), newest AS MATERIALIZED (
            SELECT f.id, f.bytes, row_number() OVER () AS place,
                   COALESCE(sum(f.bytes) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS bytes_before
            FROM fresh f
        ), turn (namespace_id, place) AS (
            -- Namespaces with waiting memories, one index probe each: from $3 on, then from the first.
            SELECT $3 - 1, 0
            UNION ALL
            SELECT COALESCE(
                       (SELECT m.namespace_id FROM %2$s m
                        WHERE %3$s AND m.namespace_id > t.namespace_id
                        ORDER BY m.namespace_id LIMIT 1),
                       CASE WHEN t.namespace_id >= $3 - 1 THEN -1 END
                   ),
                   t.place + 1
            FROM turn t
            WHERE t.namespace_id IS NOT NULL AND t.place <= $2
        ), namespace AS MATERIALIZED (
            SELECT t.namespace_id, min(t.place) AS place FROM turn t WHERE t.namespace_id >= 0 AND t.place > 0 GROUP BY t.namespace_id
        ), fair AS (
            SELECT p.id, p.place, p.bytes, n.namespace_id
            FROM namespace n
            CROSS JOIN LATERAL (
                SELECT o.id, o.bytes, row_number() OVER () AS place
                FROM (
                    SELECT %1$s AS id, %6$s AS bytes
                    FROM %2$s m
                    WHERE %3$s AND m.namespace_id = n.namespace_id AND %4$s
                    ORDER BY %5$s
                    LIMIT greatest($2 / (SELECT count(*) FROM namespace), 1)
                ) o
            ) p
            WHERE p.id NOT IN (SELECT w.id FROM newest w WHERE w.place <= ($2 + 1) / 2 AND w.bytes_before < $4 / 2)
            ORDER BY p.place, n.place
            LIMIT $2 / 2
        )
        -- If the namespaces do not fill the batch, the next newest memories do.
        -- Each half ends when its texts reach half of $4 bytes, so that large memories go in small batches between others.
        SELECT array_agg(c.id ORDER BY c.turn, c.place)
        FROM (
            SELECT o.id, min(o.turn) AS turn, min(o.place) AS place
            FROM (
                SELECT s.id, s.turn, row_number() OVER later AS place,
                       COALESCE(sum(s.bytes) OVER (later ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS bytes_before
                FROM (
                    -- A namespace's many bytes come late, as a rule: the more the later.
                    SELECT w.id, CASE WHEN w.place <= ($2 + 1) / 2 THEN 0 ELSE 2 END AS turn, w.bytes, w.place AS rank FROM newest w
                    UNION ALL
                    SELECT f.id, 1, f.bytes, random() * sum(f.bytes) OVER (PARTITION BY f.namespace_id ORDER BY f.place) FROM fair f
                ) s
                WINDOW later AS (PARTITION BY s.turn = 1 ORDER BY s.turn, s.rank)
            ) o
            WHERE o.bytes_before < $4 / 2
            GROUP BY o.id
        ) c
    $statement$, q.id, q.source, q.waits, q.is_free, q.sequence, q.bytes)
    FROM (
        SELECT 'm.id' AS id, 'pgrecall.memories' AS source,
               format('m.%I IS NULL AND NOT m.is_sensitive AND m.deleted_at IS NULL', job_choice.column_name) AS waits,
               format('NOT EXISTS (SELECT FROM pgrecall.jobs j WHERE j.memory_id = m.id AND j.kind = %L AND j.generation_id = $1 '
                      'AND (j.failed_at IS NOT NULL OR _pgrecall.is_ahead(greatest(j.lease_expires_at, j.next_attempt_at))))',
                      job_choice.kind) AS is_free,
               'm.updated_at DESC, m.id DESC' AS sequence, 'octet_length(m.content)' AS bytes
        WHERE job_choice.of_generation
        UNION ALL
        SELECT 'm.memory_id', 'pgrecall.jobs',
               format('m.kind = %L AND m.generation_id = 0 AND m.failed_at IS NULL', job_choice.kind),
               'NOT _pgrecall.is_ahead(m.lease_expires_at) AND NOT _pgrecall.is_ahead(m.next_attempt_at)'
               || CASE WHEN job_choice.ready IS NULL THEN ''
                       ELSE ' AND EXISTS (SELECT FROM pgrecall.memories o WHERE o.id = m.memory_id AND '
                            || format(job_choice.ready, job_choice.column_name) || ')' END,
               CASE WHEN job_choice.oldest_first THEN 'm.memory_id' ELSE 'm.memory_id DESC' END,
               'COALESCE((SELECT octet_length(o.content) FROM pgrecall.memories o WHERE o.id = m.memory_id), 0)'
        WHERE NOT job_choice.of_generation
    ) q;
END;
