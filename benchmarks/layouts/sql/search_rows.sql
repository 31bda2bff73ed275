-- Over one row a posting: the best postings of each term, summed by idf.
SELECT p.memory_id, sum(a.idf * p.impact) AS score
FROM asked a
CROSS JOIN LATERAL (
    SELECT p.memory_id, p.impact
    FROM layouts.postings p
    WHERE p.namespace_id = %(namespace_id)s AND p.term = a.term
    ORDER BY p.impact DESC, p.memory_id
    LIMIT %(budget)s
) p
GROUP BY p.memory_id
