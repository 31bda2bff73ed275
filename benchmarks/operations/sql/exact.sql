-- The memories nearest to a question, exactly: adding zero keeps the index out of it.
SELECT m.id
FROM pgrecall.memories m
WHERE m.namespace_id = pgrecall.namespace_id(%(namespace)s)
  AND m.deleted_at IS NULL
  AND m.superseded_by IS NULL
  AND m.embedding IS NOT NULL
  AND m.tags @> %(tags)s::text[]
ORDER BY (m.embedding <=> %(vector)s::halfvec) + 0, m.id
LIMIT %(depth)s
