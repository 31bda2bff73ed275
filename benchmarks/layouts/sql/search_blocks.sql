-- The lexical leg over blocks: the blocks of each term by their best posting, opened until there are enough postings.
WITH asked AS MATERIALIZED (
    SELECT w.term, f.memories, ln(1 + (n.memories - f.memories + '0.5'::double precision) / (f.memories + '0.5'::double precision)) AS idf
    FROM unnest(pgrecall.query_terms(%(languages)s::regconfig[], %(text)s)) w (term)
    JOIN layouts.lexicon n ON n.namespace_id = %(namespace_id)s AND n.term = ''
    LEFT JOIN layouts.lexicon x ON x.namespace_id = %(namespace_id)s AND x.term = w.term
    CROSS JOIN LATERAL (SELECT greatest(x.memories, 1)::double precision AS memories) f
), found AS (
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
    ORDER BY score DESC, p.memory_id
    LIMIT greatest(100, 2 * %(depth)s)
)
SELECT m.id, s.score
FROM found f
JOIN pgrecall.memories m ON m.id = f.memory_id
CROSS JOIN LATERAL (
    SELECT CASE
        WHEN NOT (SELECT bool_or(a.memories > %(budget)s) FROM asked a) THEN f.score
        ELSE (SELECT sum(a.idf * p.impact) FROM asked a JOIN layouts.postings_of(m.search_vector) p ON p.term = a.term)
    END AS score
) s
WHERE pgrecall.matches(m, NULL::pgrecall.recall_filter)
ORDER BY s.score DESC, m.id
LIMIT %(depth)s
