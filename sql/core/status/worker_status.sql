-- Lists the daemons with a heartbeat within the last day, the ones alive first: what they embed, how fast, and which
-- providers are paused.
--
-- generations  generations it embeds;  embedded  since its start;  per_second  since the heartbeat before the last
-- pauses       paused providers: [{"model": …, "cause": …, "until": …}]
-- last_seen    time since its last heartbeat;  is_alive  less than 30 seconds
-- poll_seconds  seconds between two looks for questions; 0: notifications reach it
-- is_current   it runs the installed SQL code
-- is_confined  its role is a member of pgrecall_embedder and does not own the tables: row-level security hides sensitive
--              memories from it
CREATE OR REPLACE FUNCTION pgrecall.worker_status()
RETURNS TABLE (
    worker uuid, hostname text, pid integer, role_name text, model text, generations integer[], embedded bigint,
    per_second double precision, pauses jsonb, running interval, last_seen interval,
    is_alive boolean, is_current boolean, is_confined boolean,
    poll_seconds real
)
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 4
SET search_path FROM CURRENT
BEGIN ATOMIC
    SELECT w.id, w.hostname, w.pid, w.role_name, w.model, w.generations, w.embedded, w.per_second, w.pauses,
           w.last_seen_at - w.started_at, now() - w.last_seen_at, _pgrecall.is_recent(w.last_seen_at, '30 seconds'),
           w.bundle_hash IS NOT DISTINCT FROM pgrecall.bundle_hash(),
           COALESCE(
               pg_has_role(r.oid, 'pgrecall_embedder', 'USAGE') AND NOT pg_has_role(r.oid, t.relowner, 'USAGE')
               AND NOT r.rolbypassrls, false
           ),
           w.poll_seconds
    FROM pgrecall.workers w
    LEFT JOIN pg_roles r ON r.rolname = w.role_name
    LEFT JOIN pg_class t ON t.oid = 'pgrecall.memories'::regclass
    ORDER BY _pgrecall.is_recent(w.last_seen_at, '30 seconds') DESC, w.hostname, w.pid;
END;

ALTER FUNCTION pgrecall.worker_status OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.worker_status TO pgrecall_reader;
