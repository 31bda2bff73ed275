-- Returns candidates for a query that names a period: the newest memories of it, and those that mention a time in it.
--
-- Of the times that are mentioned, those that end first go before others. One of more than four times the period's length, such as
-- the year of a day, says too little of it to make a candidate.
--
-- Both lists are read from an index, and at most 200 rows of each before the filter: a long period costs no more.
--
-- IS TRUE: for the reason given in bm25_postings.
CREATE OR REPLACE FUNCTION _pgrecall.period_memories(
    namespace_id integer, period tstzrange, filter pgrecall.recall_filter, "limit" integer
)
RETURNS TABLE (id bigint)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 20
BEGIN ATOMIC
    SELECT n.id
    FROM (
        SELECT c.id
        FROM (
            SELECT m.id, m.happened_at
            FROM (
                SELECT h.id, COALESCE(h.occurred_at, h.created_at) AS happened_at
                FROM pgrecall.memories h
                WHERE h.namespace_id = period_memories.namespace_id
                  AND COALESCE(h.occurred_at, h.created_at) >= lower(period)
                  AND COALESCE(h.occurred_at, h.created_at) < COALESCE(upper(period), 'infinity')
                ORDER BY COALESCE(h.occurred_at, h.created_at) DESC, h.id DESC
                LIMIT 200
            ) m
            JOIN pgrecall.memories f ON f.id = m.id
            WHERE _pgrecall.matches_filter(f, filter) IS TRUE
            ORDER BY m.happened_at DESC, m.id DESC
            LIMIT "limit"
        ) c
        UNION ALL
        SELECT c.id
        FROM (
            SELECT m.id, m.to_at
            FROM (
                SELECT r.memory_id AS id, r.from_at, r.to_at
                FROM pgrecall.temporal_refs r
                WHERE r.namespace_id = period_memories.namespace_id
                  AND r.to_at > lower(period) AND r.from_at < COALESCE(upper(period), 'infinity')
                ORDER BY r.to_at
                LIMIT 200
            ) m
            JOIN pgrecall.memories f ON f.id = m.id
            WHERE m.to_at - m.from_at <= 4 * (COALESCE(upper(period), m.to_at) - lower(period))
              AND _pgrecall.matches_filter(f, filter) IS TRUE
            ORDER BY m.to_at, m.id
            LIMIT "limit"
        ) c
    ) n;
END;
