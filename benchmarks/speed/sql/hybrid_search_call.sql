-- Columns that a caller would want, without the vector.
SELECT h.id, h.content, h.category, h.tags, h.importance, h.occurred_at
FROM bench.hybrid_search(%(text)s, %(vector)s, %(k)s, %(namespace_id)s) h
