-- What the prototypes' queries have in common: the weights of the words, and the best memories in order.
--
-- Where a term has more postings than the budget, the best memories are scored once more, exactly. A layout's own
-- query, memory_id and score, stands in the place of the line that says so.
WITH asked AS MATERIALIZED (
    SELECT w.term, f.memories, ln(1 + (n.memories - f.memories + '0.5'::double precision) / (f.memories + '0.5'::double precision)) AS idf
    FROM unnest(pgrecall.query_terms(%(languages)s::regconfig[], %(text)s)) w (term)
    JOIN layouts.lexicon n ON n.namespace_id = %(namespace_id)s AND n.term = ''
    LEFT JOIN layouts.lexicon x ON x.namespace_id = %(namespace_id)s AND x.term = w.term
    CROSS JOIN LATERAL (SELECT greatest(x.memories, 1)::double precision AS memories) f
), found AS (
    -- candidates
    ORDER BY score DESC, memory_id
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
