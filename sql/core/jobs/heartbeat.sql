-- Records a worker's heartbeat: the model it runs and how many memories it has embedded.
--
-- generations  generations it embeds;  embedded  since its start;  per_second  since its last heartbeat
-- poll_seconds  seconds between two looks for questions, at most a day; 0: notifications reach it
-- pauses       paused providers: [{"model": …, "cause": …, "until": …}]; cause disk_full: the database had no room for what it wrote
--
-- A role has at most 256 workers; the ones not heard of for longest are removed.
--
-- Errors  22023 pauses is no array, poll_seconds out of range;  54000 more than a thousand generations or pauses, or too much text
CREATE OR REPLACE FUNCTION pgrecall.heartbeat(
    worker uuid, hostname text, pid integer, bundle_hash text, model text, embedded bigint,
    generations integer[] DEFAULT '{}', per_second real DEFAULT 0, pauses jsonb DEFAULT '[]',
    poll_seconds real DEFAULT 0
)
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
#variable_conflict use_column
DECLARE
    most_workers CONSTANT integer := 256;
BEGIN
    IF jsonb_typeof(heartbeat.pauses) <> 'array' THEN
        RAISE EXCEPTION 'pauses must be an array, not of type %', jsonb_typeof(heartbeat.pauses)
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass [{"model": …, "cause": …, "until": …}], or leave it out.';
    ELSIF COALESCE(heartbeat.poll_seconds NOT BETWEEN 0 AND 86400, true) THEN
        RAISE EXCEPTION 'poll_seconds cannot be %', heartbeat.poll_seconds
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass 0 to 86400; 0 means that notifications arrive.';
    ELSIF cardinality(heartbeat.generations) > 1000 OR octet_length(heartbeat.pauses::text) > 65536 THEN
        RAISE EXCEPTION 'a heartbeat has at most 1000 generations and 65536 bytes of pauses'
            USING ERRCODE = 'program_limit_exceeded', HINT = 'Shorten generations or pauses.';
    END IF;
    INSERT INTO pgrecall.workers AS w (
        id, hostname, pid, bundle_hash, model, embedded, generations, per_second, pauses, poll_seconds, role_name
    )
    VALUES (
        heartbeat.worker, left(heartbeat.hostname, 255), heartbeat.pid, left(heartbeat.bundle_hash, 64), left(heartbeat.model, 255),
        heartbeat.embedded, heartbeat.generations, heartbeat.per_second, heartbeat.pauses, heartbeat.poll_seconds,
        pg_get_userbyid(pgrecall.session_role())
    )
    ON CONFLICT ON CONSTRAINT workers_pkey DO UPDATE
        SET embedded = excluded.embedded, model = excluded.model, generations = excluded.generations,
            per_second = excluded.per_second, pauses = excluded.pauses,
            poll_seconds = excluded.poll_seconds,
            role_name = excluded.role_name, last_seen_at = now();
    -- Waits for no other heartbeat. A role keeps the workers that it heard of last.
    DELETE FROM pgrecall.workers w
    WHERE w.id IN (
        SELECT o.id FROM pgrecall.workers o
        WHERE NOT _pgrecall.is_recent(o.last_seen_at, '1 day') OR o.id IN (
            SELECT r.id FROM pgrecall.workers r
            WHERE r.role_name = pg_get_userbyid(pgrecall.session_role()) AND r.id <> heartbeat.worker
            ORDER BY r.last_seen_at DESC
            OFFSET most_workers - 1
        )
        FOR UPDATE SKIP LOCKED
    );
END
$function$;

ALTER FUNCTION pgrecall.heartbeat OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.heartbeat TO pgrecall_embedder;
