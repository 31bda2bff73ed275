-- Over blocks: those of each term by their best posting, opened until there are enough postings.
SELECT p.memory_id, sum(a.idf * p.impact) AS score
FROM asked a
CROSS JOIN LATERAL (
    SELECT i.memory_id, i.impact, b.number
    FROM (
        SELECT b.number, b.memory_ids, b.impacts
        FROM layouts.blocks b
        WHERE b.namespace_id = %(namespace_id)s AND b.term = a.term
        ORDER BY b.max_impact DESC
    ) b
    CROSS JOIN LATERAL unnest(b.memory_ids, b.impacts) i (memory_id, impact)
    LIMIT %(budget)s
) p
WHERE NOT EXISTS (
    SELECT FROM layouts.removed r WHERE r.memory_id = p.memory_id AND p.number <= r.block_number
)
GROUP BY p.memory_id
