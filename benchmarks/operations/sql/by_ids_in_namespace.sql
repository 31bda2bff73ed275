-- The same with the namespace named, which leaves one partition to look into.
SELECT c.id, m.content
FROM unnest(%(ids)s::bigint[]) c (id)
CROSS JOIN LATERAL (
    SELECT m.content FROM pgrecall.memories m WHERE m.id = c.id AND m.namespace_id = %(namespace_id)s OFFSET 0
) m
