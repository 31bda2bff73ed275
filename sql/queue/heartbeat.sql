-- Says that a worker is alive, what it embeds, and how much of it.
--
-- generations  that it embeds;  embedded  since it started;  per_second  since the heartbeat before
-- pauses       providers that it does not ask now: [{"model": …, "cause": …, "until": …}]
CREATE OR REPLACE FUNCTION pgrecall.heartbeat(
    worker uuid, hostname text, pid integer, bundle_hash text, model text, embedded bigint,
    generations integer[] DEFAULT '{}', per_second real DEFAULT 0, pauses jsonb DEFAULT '[]'
)
RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
BEGIN ATOMIC
    INSERT INTO pgrecall.workers AS w (
        id, hostname, pid, bundle_hash, model, embedded, generations, per_second, pauses, role_name
    )
    VALUES (worker, left(hostname, 255), pid, left(bundle_hash, 64), left(model, 255), embedded, generations, per_second, pauses, pg_get_userbyid(pgrecall.session_role()))
    ON CONFLICT ON CONSTRAINT workers_pkey DO UPDATE
        SET embedded = excluded.embedded, model = excluded.model, generations = excluded.generations,
            per_second = excluded.per_second, pauses = excluded.pauses,
            role_name = excluded.role_name, last_seen_at = now();
    DELETE FROM pgrecall.workers w WHERE w.last_seen_at < now() - interval '1 day';
END;

COMMENT ON FUNCTION pgrecall.heartbeat IS 'Says that a worker is alive, what it embeds, and how much of it.';

ALTER FUNCTION pgrecall.heartbeat OWNER TO pgrecall_gate;
