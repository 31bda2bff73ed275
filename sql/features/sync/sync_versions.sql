-- Returns the memories of the given buckets of pgrecall.sync_digests(), with the digest of each.
--
-- Errors  42704 no such namespace
CREATE OR REPLACE FUNCTION pgrecall.sync_versions(
    buckets bigint[], namespace text DEFAULT NULL, include_sensitive boolean DEFAULT false
)
RETURNS TABLE (id bigint, version text)
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path FROM CURRENT
BEGIN ATOMIC
    SELECT m.id, _pgrecall.memory_digest(m)
    FROM unnest(buckets) b (bucket)
    JOIN pgrecall.memories m ON m.id BETWEEN b.bucket << 8 AND (b.bucket << 8) + 255
    WHERE m.namespace_id + 0 = (SELECT _pgrecall.known_namespace(pgrecall.namespace_name(sync_versions.namespace)))
      AND m.deleted_at IS NULL AND (include_sensitive OR NOT m.is_sensitive)
    ORDER BY m.id;
END;

ALTER FUNCTION pgrecall.sync_versions OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.sync_versions TO pgrecall_reader;
