-- Returns the memories that a retention rule covers and that are older than it allows, oldest first.
--
-- Forgotten memories are included if the rule erases.
--
-- max_results  NULL: all
CREATE OR REPLACE FUNCTION _pgrecall.outdated_memories(rule pgrecall.retention, max_results integer)
RETURNS TABLE (id bigint)
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT m.id
    FROM pgrecall.memories m
    WHERE m.namespace_id = (rule).namespace_id AND m.created_at < now() - (rule).keep
      AND (m.deleted_at IS NULL OR (rule).action = 'erase')
      AND CASE
          WHEN (rule).category IS NOT NULL THEN m.category = (rule).category
          ELSE NOT EXISTS (
              SELECT FROM pgrecall.retention o WHERE o.namespace_id = m.namespace_id AND o.category = m.category
          )
      END
    ORDER BY m.created_at, m.id
    LIMIT max_results;
END;
