-- The same of memories that have some tags.
SELECT m.id
FROM pgrecall.memories m
WHERE m.namespace_id = %(namespace_id)s
  AND m.deleted_at IS NULL
  AND m.superseded_by IS NULL
  AND m.tags @> %(tags)s::text[]
ORDER BY m.embedding <=> %(vector)s::halfvec
LIMIT %(depth)s
