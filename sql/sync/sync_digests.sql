-- sync_digests: what a namespace has, in a few lines: one for every 256 ids, with a digest of the memories among them.
--
-- Whoever keeps a copy computes the same of it, and asks for those buckets only that differ: whatever the reason is, be it
-- a row that was changed, forgotten, deleted, moved or is sensitive now, and however late its transaction committed.
--
-- bucket             id / 256
-- include_sensitive  also sensitive memories
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

COMMENT ON FUNCTION pgrecall.sync_digests IS
    'A digest for every 256 ids of the memories of a namespace; a copy outside asks for those that differ.';

ALTER FUNCTION pgrecall.sync_digests OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.sync_digests TO pgrecall_reader;
