-- Says that a worker is alive, and how many memories it has embedded since it started.
CREATE OR REPLACE FUNCTION pgrecall.heartbeat(
    worker uuid, hostname text, pid integer, bundle_hash text, model text, embedded bigint
)
RETURNS void
LANGUAGE sql VOLATILE
BEGIN ATOMIC
    INSERT INTO pgrecall.workers AS w (id, hostname, pid, bundle_hash, model, embedded)
    VALUES (worker, hostname, pid, bundle_hash, model, embedded)
    ON CONFLICT ON CONSTRAINT workers_pkey DO UPDATE SET embedded = excluded.embedded, last_seen_at = now();
    DELETE FROM pgrecall.workers w WHERE w.last_seen_at < now() - interval '1 day';
END;

COMMENT ON FUNCTION pgrecall.heartbeat IS 'Says that a worker is alive, and how many memories it has embedded.';
