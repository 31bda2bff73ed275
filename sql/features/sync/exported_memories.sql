-- The memories that an export holds, with the next exported successor of a superseded one.
--
-- Without one a superseded memory is not exported: it would look current.
CREATE OR REPLACE FUNCTION _pgrecall.exported_memories(
    namespace_id integer, include_sensitive boolean, include_forgotten boolean
)
RETURNS TABLE (id bigint, successor bigint)
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT m.id, l.id
    FROM pgrecall.memories m
    LEFT JOIN LATERAL (
        WITH RECURSIVE later AS (
            SELECT s.id, s.superseded_by, s.is_sensitive AND NOT include_sensitive
                   OR s.deleted_at IS NOT NULL AND NOT include_forgotten AS is_left_out
            FROM pgrecall.memories s WHERE s.id = m.superseded_by
            UNION
            SELECT s.id, s.superseded_by, s.is_sensitive AND NOT include_sensitive
                   OR s.deleted_at IS NOT NULL AND NOT include_forgotten
            FROM later p JOIN pgrecall.memories s ON s.id = p.superseded_by
            WHERE p.is_left_out
        )
        SELECT p.id FROM later p WHERE NOT p.is_left_out
    ) l ON m.superseded_by IS NOT NULL
    WHERE (exported_memories.namespace_id IS NULL OR m.namespace_id = exported_memories.namespace_id)
      AND (include_sensitive OR NOT m.is_sensitive)
      AND (include_forgotten OR m.deleted_at IS NULL)
      AND (m.superseded_by IS NULL OR l.id IS NOT NULL);
END;
