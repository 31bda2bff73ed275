-- The memories of a namespace whose text speaks of a time that overlaps a period; NULL where the period is.
--
-- recall() asks once and hands the ids to every leg (recall_filter.referring): as a constant they are part of an index
-- condition (a BitmapOr with the memories' own time), and in a plan that is made with them they are hashed. A subquery
-- in matches() would keep it from being written into the query at all.
--
-- period  half-open, see half_open()
CREATE OR REPLACE FUNCTION _pgrecall.referring_memories(namespace_id integer, period tstzrange)
RETURNS bigint[]
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN period IS NOT NULL THEN ARRAY(
    SELECT DISTINCT r.memory_id
    FROM pgrecall.temporal_refs r
    WHERE r.namespace_id = referring_memories.namespace_id AND NOT isempty(period)
      AND r.to_at > COALESCE(lower(period), '-infinity') AND r.from_at < COALESCE(upper(period), 'infinity')
) END;

COMMENT ON FUNCTION _pgrecall.referring_memories IS
    'The memories of a namespace whose text speaks of a time that overlaps a period; NULL where the period is.';
