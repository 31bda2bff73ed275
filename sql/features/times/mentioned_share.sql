-- Returns the largest share, 0 to 1, of a time that a memory mentions which lies in a period. NULL: it mentions none of the period.
--
-- A memory that mentions 14 September is all about a question of last week; one that mentions the year is not.
--
-- A set of one row, because the planner would not inline a function that returns a maximum.
CREATE OR REPLACE FUNCTION _pgrecall.mentioned_share(memory_id bigint, period tstzrange)
RETURNS TABLE (share double precision)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 1
BEGIN ATOMIC
    SELECT max(EXTRACT(epoch FROM least(t.to_at, COALESCE(upper(period), 'infinity')) - greatest(t.from_at, lower(period)))::float8
               / EXTRACT(epoch FROM t.to_at - t.from_at)::float8)
    FROM pgrecall.temporal_refs t
    WHERE t.memory_id = mentioned_share.memory_id
      AND t.from_at < COALESCE(upper(period), 'infinity') AND t.to_at > lower(period);
END;
