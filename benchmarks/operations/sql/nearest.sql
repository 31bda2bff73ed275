-- What the index of the embeddings gives, in its order.
SELECT m.id
FROM pgrecall.memories m
WHERE m.namespace_id = %(namespace_id)s
  AND m.deleted_at IS NULL
  AND m.superseded_by IS NULL
ORDER BY m.embedding <=> %(vector)s::halfvec
LIMIT %(depth)s
