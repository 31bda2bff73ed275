-- copy_versions: the memories of some buckets of copy_digests(), with what tells their states apart.
--
-- Errors  42704 no such namespace
CREATE OR REPLACE FUNCTION pgrecall.copy_versions(
    buckets bigint[], namespace text DEFAULT NULL, include_sensitive boolean DEFAULT false
)
RETURNS TABLE (id bigint, version text)
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path FROM CURRENT
BEGIN ATOMIC
    SELECT m.id, pgrecall.memory_version(m)
    FROM unnest(buckets) b (bucket)
    JOIN pgrecall.memories m ON m.id BETWEEN b.bucket << 8 AND (b.bucket << 8) + 255
    WHERE m.namespace_id + 0 = (SELECT pgrecall.known_namespace(pgrecall.namespace_name(copy_versions.namespace)))
      AND m.deleted_at IS NULL AND (include_sensitive OR NOT m.is_sensitive)
    ORDER BY m.id;
END;

COMMENT ON FUNCTION pgrecall.copy_versions IS
    'The memories of some buckets of pgrecall.copy_digests(), with what tells their states apart.';

ALTER FUNCTION pgrecall.copy_versions OWNER TO pgrecall_gate;
