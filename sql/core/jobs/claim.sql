-- Leases pending memories to a worker, newest first and fair to namespaces. Returns the text to embed, and the hash and
-- ticket to pass to complete_claimed().
--
-- A memory is pending while its embedding in the generation is NULL and it is neither sensitive nor forgotten. Half of a
-- batch are the most recently written memories. The other half takes the newest memory of as many namespaces as possible,
-- starting at a random one. A fresh memory therefore does not wait for a backlog, and no tenant waits for another's.
-- The texts of a batch have 256 kB, or little more: then it is smaller.
-- Skips rows that another worker is claiming at this moment. Commit before embedding: the lease outlives the transaction.
--
-- An expired lease counts as an attempt: the text may have crashed its worker. After five attempts the memory has failed.
--
-- A retired generation has no pending memories, so a daemon that has not noticed the switch sends no text to its model.
--
-- batch       maximum number of memories
-- lease       when another worker may claim them
-- generation  NULL: the active one
--
-- is_sensitive  always false; a daemon that sends texts to a provider checks it again
-- ticket        argument of complete_claimed()
-- passages      texts to embed as well if the memory is long, else NULL
--
-- Errors  22023 a batch or lease out of range
CREATE OR REPLACE FUNCTION pgrecall.claim(
    worker uuid, batch integer DEFAULT 64, lease interval DEFAULT '2 minutes', generation integer DEFAULT NULL
)
RETURNS TABLE (
    memory_id bigint, content_hash bytea, content text, is_sensitive boolean, ticket bigint, passages text[]
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 64
SET search_path FROM CURRENT
AS $function$
#variable_conflict use_column
DECLARE
    most_bytes CONSTANT integer := 262144;
    made_for pgrecall.generations;
    start integer := floor(random() * (SELECT max(n.id) + 1 FROM pgrecall.namespaces n))::integer;
    chosen bigint[];
BEGIN
    PERFORM _pgrecall.check_claim(batch, lease);
    -- Keeps the column from being dropped.
    PERFORM FROM pgrecall.memories m WHERE false;
    SELECT g.* INTO made_for FROM pgrecall.generations g
    WHERE g.id = COALESCE(claim.generation, pgrecall.active_generation());
    IF made_for.id IS NULL OR made_for.state = 'retired' OR batch < 1 THEN
        RETURN;
    END IF;
    WITH hopeless AS (
        DELETE FROM pgrecall.embedding_jobs j
        USING (
            SELECT l.memory_id FROM pgrecall.embedding_jobs l
            JOIN pgrecall.memories m ON m.id = l.memory_id
            WHERE l.generation_id = made_for.id AND l.attempts >= 4 AND l.lease_expires_at IS NOT NULL
              AND NOT _pgrecall.is_ahead(l.lease_expires_at)
            FOR UPDATE OF l SKIP LOCKED
            FOR KEY SHARE OF m SKIP LOCKED
        ) lost
        WHERE j.memory_id = lost.memory_id AND j.generation_id = made_for.id
        RETURNING j.memory_id, j.attempts
    )
    INSERT INTO pgrecall.embedding_failures (memory_id, generation_id, attempts, cause, error)
    SELECT h.memory_id, made_for.id, h.attempts + 1, 'worker_lost', 'its worker was not heard of again' FROM hopeless h
    ON CONFLICT DO NOTHING;

    -- Not embedding_of(): it takes whole rows, which the embedder's role may not read.
    EXECUTE format($statement$
        WITH RECURSIVE fresh AS MATERIALIZED (
            SELECT m.id, octet_length(m.content) AS bytes
            FROM pgrecall.memories m
            WHERE m.%1$I IS NULL AND NOT m.is_sensitive AND m.deleted_at IS NULL
              AND NOT (
                  EXISTS (SELECT FROM pgrecall.embedding_jobs j
                          WHERE j.memory_id = m.id AND j.generation_id = $1
                            AND _pgrecall.is_ahead(greatest(j.lease_expires_at, j.next_attempt_at)))
                  OR EXISTS (SELECT FROM pgrecall.embedding_failures f WHERE f.memory_id = m.id AND f.generation_id = $1)
              )
            ORDER BY m.updated_at DESC, m.id DESC
            LIMIT $2
            FOR NO KEY UPDATE SKIP LOCKED
        ), newest AS MATERIALIZED (
            SELECT f.id, f.bytes, row_number() OVER () AS place,
                   COALESCE(sum(f.bytes) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS bytes_before
            FROM fresh f
        ), turn (namespace_id, place) AS (
            -- Namespaces with pending memories, one index probe each: from $3 on, then from the first.
            SELECT $3 - 1, 0
            UNION ALL
            SELECT COALESCE(
                       (SELECT m.namespace_id FROM pgrecall.memories m
                        WHERE m.%1$I IS NULL AND NOT m.is_sensitive AND m.deleted_at IS NULL
                          AND m.namespace_id > t.namespace_id
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
                SELECT m.id, m.bytes, row_number() OVER (ORDER BY m.updated_at DESC, m.id DESC) AS place
                FROM (
                    SELECT m.id, m.updated_at, octet_length(m.content) AS bytes
                    FROM pgrecall.memories m
                    WHERE m.%1$I IS NULL AND NOT m.is_sensitive AND m.deleted_at IS NULL
                      AND m.namespace_id = n.namespace_id
                      AND NOT (
                          EXISTS (SELECT FROM pgrecall.embedding_jobs j
                                  WHERE j.memory_id = m.id AND j.generation_id = $1
                                    AND _pgrecall.is_ahead(greatest(j.lease_expires_at, j.next_attempt_at)))
                          OR EXISTS (SELECT FROM pgrecall.embedding_failures f WHERE f.memory_id = m.id AND f.generation_id = $1)
                      )
                    ORDER BY m.updated_at DESC, m.id DESC
                    LIMIT greatest($2 / (SELECT count(*) FROM namespace), 1)
                ) m
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
    $statement$, made_for.column_name)
    INTO chosen
    USING made_for.id, batch, start, most_bytes;

    RETURN QUERY EXECUTE format($statement$
        WITH free AS MATERIALIZED (
            SELECT m.id
            FROM unnest($1) WITH ORDINALITY c (id, place)
            JOIN pgrecall.memories m ON m.id = c.id
            WHERE m.%1$I IS NULL AND NOT m.is_sensitive AND m.deleted_at IS NULL
            ORDER BY c.place
            LIMIT $5
            FOR NO KEY UPDATE OF m SKIP LOCKED
        ), claimed AS (
            -- If another worker claimed the row after our snapshot, the WHERE below leaves its lease alone.
            INSERT INTO pgrecall.embedding_jobs AS j (memory_id, generation_id, worker_id, lease_expires_at, ticket)
            SELECT f.id, $2, $3, clock_timestamp() + $4, _pgrecall.random_ticket() FROM free f ORDER BY f.id
            ON CONFLICT ON CONSTRAINT embedding_jobs_pkey DO UPDATE
                SET worker_id = excluded.worker_id, lease_expires_at = excluded.lease_expires_at, next_attempt_at = NULL,
                    ticket = excluded.ticket,
                    attempts = j.attempts + (j.lease_expires_at IS NOT NULL)::integer,
                    last_error = CASE WHEN j.lease_expires_at IS NULL THEN j.last_error ELSE 'its worker was not heard of again' END
                WHERE NOT _pgrecall.is_ahead(greatest(j.lease_expires_at, j.next_attempt_at))
            RETURNING j.memory_id, j.ticket
        )
        SELECT m.id, m.content_hash,
               _pgrecall.embedding_text(m.title, m.content, m.expanded_keywords, recipe.recipe), m.is_sensitive,
               l.ticket, _pgrecall.passage_texts(m.title, m.content)
        FROM claimed l
        JOIN pgrecall.memories m ON m.id = l.memory_id
        CROSS JOIN (SELECT _pgrecall.embedding_recipe() AS recipe) recipe
        ORDER BY m.updated_at DESC, m.id DESC
    $statement$, made_for.column_name)
    USING chosen, made_for.id, worker, lease, batch;
END
$function$;

ALTER FUNCTION pgrecall.claim OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.claim TO pgrecall_embedder;
