-- Does with secrets in stored memories what the policy of their namespace says, one batch a call; returns what was found, by kind, and
-- what was done.
--
-- For memories that were stored before an upgrade, or before set_secrets() changed the policy: in whatever state, forgotten,
-- superseded and sensitive ones too. Each call is a transaction of its own. Call it with the last_id of the call before until that is
-- NULL; after a kill, go on from the last call or begin anew. A second run changes nothing. docs/secrets.md has the loop.
--
-- redact rewrites the memory and its history, and cannot be undone. sensitive makes it sensitive, and so does refuse, as it cannot
-- refuse what is there; so does redact where markers would make a field too long. allow only counts, for list_secrets().
--
-- namespace     NULL: the setting pgrecall.namespace, then 'default'
-- after_id      memories with a higher id only; NULL: all
-- max_memories  at most so many in one call, 1 to 100000
-- dry_run       change nothing, and tell what would be done
--
-- last_id   of the batch; NULL: there is no memory after it
-- scanned   memories read;  redacted, marked  of these, rewritten and made sensitive
-- found     {"jwt": 2, …}: memories with a secret of the kind, also in their history where the policy is redact
--
-- Errors  22023 max_memories out of range;  42704 no such namespace;  42501 read-only for this role;  55000 not under read committed;
--         55P03 locked for too long
CREATE OR REPLACE FUNCTION pgrecall.scan_secrets(
    namespace text DEFAULT NULL, after_id bigint DEFAULT NULL, max_memories integer DEFAULT 1000, dry_run boolean DEFAULT false
)
RETURNS TABLE (last_id bigint, scanned integer, redacted integer, marked integer, found jsonb)
LANGUAGE sql VOLATILE SECURITY DEFINER ROWS 1
SET search_path FROM CURRENT
BEGIN ATOMIC
    SELECT s.last_id, s.scanned, s.redacted, s.marked, s.counts
    FROM _pgrecall.scan_granted(
        _pgrecall.writable_namespace(scan_secrets.namespace), scan_secrets.after_id, scan_secrets.max_memories,
        scan_secrets.dry_run IS TRUE
    ) s;
END;

ALTER FUNCTION pgrecall.scan_secrets OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.scan_secrets TO pgrecall_writer;
