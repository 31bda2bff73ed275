-- Over one row a posting and the list of memories whose postings are not written yet.
SELECT p.memory_id, sum(a.idf * p.impact) AS score
FROM asked a
CROSS JOIN LATERAL (
    SELECT p.memory_id, p.impact
    FROM layouts.postings p
    WHERE p.namespace_id = %(namespace_id)s AND p.term = a.term
    ORDER BY p.impact DESC, p.memory_id
    LIMIT %(budget)s
) p
WHERE NOT EXISTS (SELECT FROM layouts.waiting w WHERE w.memory_id = p.memory_id)
GROUP BY p.memory_id
UNION ALL
SELECT m.id, sum(a.idf * p.impact)
FROM layouts.waiting w
JOIN pgrecall.memories m ON m.id = w.memory_id
JOIN (SELECT pgrecall.any_word(%(languages)s::regconfig[], %(text)s) AS query OFFSET 0) q ON m.search_vector @@ q.query
CROSS JOIN LATERAL layouts.postings_of(m.search_vector) p
JOIN asked a ON a.term = p.term
WHERE m.namespace_id = %(namespace_id)s AND m.deleted_at IS NULL
GROUP BY m.id
