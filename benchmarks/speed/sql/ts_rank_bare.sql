-- What the lexical leg is compared with: any of the words, by ts_rank, as one plain query.
SELECT m.id, ts_rank(m.search_vector, q.query)
FROM (SELECT replace(plainto_tsquery('english', %(text)s)::text, '&', '|')::tsquery AS query) q,
     pgrecall.memories m
WHERE m.namespace_id = %(namespace_id)s AND m.deleted_at IS NULL AND m.search_vector @@ q.query
ORDER BY ts_rank(m.search_vector, q.query) DESC, m.id
LIMIT %(leg_depth)s
