-- Returns the memories that have ended since the postings were written: no write tells that their time has come.
--
-- Their postings are still among the current ones. Memories with a pending change are left out.
--
-- moment  separated_at(namespace_id)
CREATE OR REPLACE FUNCTION _pgrecall.newly_past(namespace_id integer, moment timestamptz)
RETURNS TABLE (memory_id bigint, vector tsvector, ends_at timestamptz)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 1
BEGIN ATOMIC
    SELECT m.id, m.search_vector, LEAST(m.valid_to, m.expires_at)
    FROM pgrecall.memories m
    WHERE m.namespace_id = newly_past.namespace_id
      AND LEAST(m.valid_to, m.expires_at) > moment AND LEAST(m.valid_to, m.expires_at) <= now()
      AND m.deleted_at IS NULL AND m.superseded_by IS NULL
      AND NOT EXISTS (
          SELECT FROM pgrecall.pending_postings u WHERE u.memory_id = m.id AND u.namespace_id = newly_past.namespace_id
      );
END;
