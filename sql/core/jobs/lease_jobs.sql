-- Leases memories to a worker, for a job of any kind, fair to namespaces; the caller reads their texts in another statement.
--
-- job_choice() says which memories. An expired lease counts as an attempt. Skips rows that another transaction has locked.
--
-- A statement reads what its snapshot shows, and a lease that it writes is younger. Only a later statement cannot hand out a text
-- that is older than the lease: a change of the text either was committed before, or waits and voids the ticket.
--
-- made_for  the generation; the active one for kinds that are of none
--
-- Errors  22023 a batch or lease out of range
CREATE OR REPLACE FUNCTION _pgrecall.lease_jobs(
    kind text, worker uuid, batch integer, lease interval, made_for pgrecall.generations
)
RETURNS TABLE (memory_id bigint, ticket bigint)
LANGUAGE plpgsql VOLATILE ROWS 64
SET search_path FROM CURRENT
AS $function$
DECLARE
    most_bytes CONSTANT integer := 262144;
    start CONSTANT integer := floor(random() * (SELECT max(n.id) + 1 FROM pgrecall.namespaces n))::integer;
    said record;
    chosen bigint[];
BEGIN
    PERFORM _pgrecall.check_claim(batch, lease);
    IF batch < 1 THEN
        RETURN;
    END IF;
    SELECT k.* INTO STRICT said FROM _pgrecall.job_kinds() k WHERE k.kind = lease_jobs.kind;
    -- Keeps the column from being dropped.
    PERFORM FROM pgrecall.memories m WHERE false;
    PERFORM _pgrecall.rescue_jobs(kind, CASE WHEN said.of_generation THEN made_for.id ELSE 0 END);
    -- Not embedding_of(): it takes whole rows, which the embedder's role may not read.
    EXECUTE _pgrecall.job_choice(kind, said.of_generation, said.oldest_first, said.ready, made_for.column_name::text) INTO chosen
    USING made_for.id, batch, start, most_bytes;
    IF chosen IS NULL THEN
        RETURN;
    END IF;
    IF said.of_generation THEN
        RETURN QUERY EXECUTE format($statement$
            WITH free AS MATERIALIZED (
                SELECT m.id, m.namespace_id
                FROM unnest($1) WITH ORDINALITY c (id, place)
                JOIN pgrecall.memories m ON m.id = c.id
                WHERE m.%1$I IS NULL AND NOT m.is_sensitive AND m.deleted_at IS NULL
                ORDER BY c.place
                LIMIT $5
                FOR NO KEY UPDATE OF m SKIP LOCKED
            )
            -- If another worker claimed the row after our snapshot, the WHERE below leaves its lease alone.
            INSERT INTO pgrecall.jobs AS j (memory_id, kind, generation_id, namespace_id, worker_id, lease_expires_at, ticket)
            SELECT f.id, $6, $2, f.namespace_id, $3, clock_timestamp() + $4, _pgrecall.random_ticket() FROM free f ORDER BY f.id
            ON CONFLICT ON CONSTRAINT jobs_pkey DO UPDATE
                SET worker_id = excluded.worker_id, lease_expires_at = excluded.lease_expires_at, next_attempt_at = NULL,
                    ticket = excluded.ticket, namespace_id = excluded.namespace_id,
                    attempts = j.attempts + (j.lease_expires_at IS NOT NULL)::integer,
                    last_error = CASE WHEN j.lease_expires_at IS NULL THEN j.last_error ELSE 'its worker was not heard of again' END
                WHERE j.failed_at IS NULL AND NOT _pgrecall.is_ahead(greatest(j.lease_expires_at, j.next_attempt_at))
            RETURNING j.memory_id, j.ticket
        $statement$, made_for.column_name)
        USING chosen, made_for.id, worker, lease, batch, kind;
    ELSE
        RETURN QUERY EXECUTE $statement$
            WITH free AS MATERIALIZED (
                SELECT j.memory_id
                FROM unnest($1) WITH ORDINALITY c (id, place)
                JOIN pgrecall.jobs j ON j.memory_id = c.id AND j.kind = $2 AND j.generation_id = 0
                WHERE j.failed_at IS NULL AND NOT _pgrecall.is_ahead(greatest(j.lease_expires_at, j.next_attempt_at))
                ORDER BY c.place
                LIMIT $5
                FOR UPDATE OF j SKIP LOCKED
            )
            UPDATE pgrecall.jobs j
            SET worker_id = $3, lease_expires_at = clock_timestamp() + $4, next_attempt_at = NULL, ticket = _pgrecall.random_ticket(),
                attempts = j.attempts + (j.lease_expires_at IS NOT NULL)::integer,
                last_error = CASE WHEN j.lease_expires_at IS NULL THEN j.last_error ELSE 'its worker was not heard of again' END
            FROM free f
            WHERE j.memory_id = f.memory_id AND j.kind = $2 AND j.generation_id = 0
            RETURNING j.memory_id, j.ticket
        $statement$
        USING chosen, kind, worker, lease, batch;
    END IF;
END
$function$;
