-- Second of the three queries that are fused in Python: the nearest vectors.
SELECT m.id, m.content, m.tags
FROM pgrecall.memories m
WHERE m.namespace_id = %(namespace_id)s AND m.deleted_at IS NULL
ORDER BY m.embedding <=> %(vector)s::halfvec
LIMIT %(leg_depth)s
