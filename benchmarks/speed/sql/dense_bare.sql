-- Dense retrieval and nothing else: the part of the floor.
SELECT m.id, m.embedding <=> %(vector)s::halfvec AS distance
FROM pgrecall.memories m
WHERE m.namespace_id = %(namespace_id)s
  AND m.deleted_at IS NULL
  AND m.superseded_by IS NULL
ORDER BY m.embedding <=> %(vector)s::halfvec
LIMIT %(leg_depth)s
