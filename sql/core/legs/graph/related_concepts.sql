-- Returns the concepts that have a valid relationship with a concept, highest weight first; at most ten.
--
-- It reads the newest 50 relationships per concept and direction, which bounds the cost of a hub.
--
-- as_of  use what was recorded and valid at that time; NULL: now
CREATE OR REPLACE FUNCTION _pgrecall.related_concepts(concept_id bigint, as_of timestamptz)
RETURNS TABLE (related_id bigint, weight double precision)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 10
BEGIN ATOMIC
    SELECT n.other_id, max(n.weight)
    FROM (
        SELECT r.target_id AS other_id, r.id, r.weight, r.valid_from, r.valid_to, r.recorded_at, r.superseded_at
        FROM (
            SELECT s.* FROM pgrecall.relationships s WHERE s.source_id = related_concepts.concept_id
            ORDER BY s.source_id DESC, s.id DESC LIMIT 50
        ) r
        UNION ALL
        SELECT r.source_id, r.id, r.weight, r.valid_from, r.valid_to, r.recorded_at, r.superseded_at
        FROM (
            SELECT t.* FROM pgrecall.relationships t WHERE t.target_id = related_concepts.concept_id
            ORDER BY t.target_id DESC, t.id DESC LIMIT 50
        ) r
    ) n
    WHERE n.other_id <> related_concepts.concept_id
      AND (as_of IS NULL OR n.recorded_at <= as_of)
      AND _pgrecall.is_valid_at(
          n.valid_from,
          CASE WHEN as_of IS NULL THEN n.valid_to ELSE _pgrecall.end_known_at(n.id, n.valid_to, n.superseded_at, as_of) END,
          COALESCE(as_of, now())
      )
    GROUP BY n.other_id
    ORDER BY max(n.weight) DESC, n.other_id
    LIMIT 10;
END;
