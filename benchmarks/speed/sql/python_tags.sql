-- Third of the three queries that are fused in Python: memories that share tags with the best hits of the others,
-- those with the most in common first.
SELECT m.id, m.content, m.tags
FROM pgrecall.memories m
WHERE m.namespace_id = %(namespace_id)s AND m.deleted_at IS NULL AND m.tags && %(shared_tags)s
ORDER BY (SELECT count(*) FROM unnest(m.tags) t WHERE t = ANY (%(shared_tags)s)) DESC, m.id DESC
LIMIT %(leg_depth)s
