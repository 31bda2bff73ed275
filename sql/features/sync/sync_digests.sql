-- Returns one digest per 256 ids of the memories of a namespace. An offline copy fetches the buckets that differ.
--
-- The owner of an offline copy computes the same digests and fetches only the buckets that differ. This detects every
-- difference: rows changed, forgotten, deleted, moved or made sensitive, even by transactions that committed late.
--
-- bucket             id / 256
-- include_sensitive  true: include sensitive memories
--
-- Errors  42704 no such namespace
CREATE OR REPLACE FUNCTION pgrecall.sync_digests(namespace text DEFAULT NULL, include_sensitive boolean DEFAULT false)
RETURNS TABLE (bucket bigint, digest text)
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path FROM CURRENT
BEGIN ATOMIC
    SELECT m.id >> 8, md5(string_agg(m.id || ' ' || _pgrecall.memory_digest(m), ',' ORDER BY m.id))
    FROM pgrecall.memories m
    WHERE m.namespace_id = (SELECT _pgrecall.known_namespace(pgrecall.namespace_name(sync_digests.namespace)))
      AND m.deleted_at IS NULL AND (include_sensitive OR NOT m.is_sensitive)
    GROUP BY m.id >> 8
    ORDER BY m.id >> 8;
END;

ALTER FUNCTION pgrecall.sync_digests OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.sync_digests TO pgrecall_reader;
