-- Returns when memories of a namespace are valid, and what supersedes them; no row for forgotten ones.
--
-- Memories that are forgotten or in another namespace have no row.
--
-- namespace  as for recall()
CREATE OR REPLACE FUNCTION pgrecall.memory_validity(ids bigint[], namespace text DEFAULT NULL)
RETURNS TABLE (id bigint, valid_from timestamptz, valid_to timestamptz, superseded_by bigint)
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 10
SET search_path FROM CURRENT
BEGIN ATOMIC
    SELECT m.id, m.valid_from, m.valid_to, m.superseded_by
    FROM pgrecall.memories m
    WHERE m.id = ANY ((SELECT _pgrecall.seen_ids('memory', ids))::bigint[])
      AND m.namespace_id = pgrecall.namespace_id(namespace) AND m.deleted_at IS NULL
    ORDER BY m.id;
END;

ALTER FUNCTION pgrecall.memory_validity OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.memory_validity TO pgrecall_reader;
