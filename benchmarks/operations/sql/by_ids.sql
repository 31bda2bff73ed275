-- Memories by their ids, as callers name them.
SELECT c.id, m.content
FROM unnest(%(ids)s::bigint[]) c (id)
CROSS JOIN LATERAL (SELECT m.content FROM pgrecall.memories m WHERE m.id = c.id OFFSET 0) m
