-- Returns the memories within two positions of a memory in its session. Reads at most 20 rows.
--
-- IS TRUE: for the reason given in bm25_postings.
CREATE OR REPLACE FUNCTION _pgrecall.session_neighbours(memory_id bigint, filter pgrecall.recall_filter)
RETURNS TABLE (id bigint)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 4
BEGIN ATOMIC
    SELECT n.id
    FROM pgrecall.memories m
    CROSS JOIN LATERAL (
        SELECT other.id
        FROM pgrecall.memories other
        WHERE other.namespace_id = m.namespace_id AND other.session = m.session
          AND other."position" BETWEEN m."position"::bigint - 2 AND m."position"::bigint + 2
          AND other.id <> m.id AND _pgrecall.matches_filter(other, filter) IS TRUE
        ORDER BY other."position", other.id
        LIMIT 20
    ) n
    WHERE m.id = session_neighbours.memory_id AND m.session IS NOT NULL AND m."position" IS NOT NULL;
END;
