-- First of the three queries that are fused in Python: any of the words, by ts_rank.
WITH any_word AS MATERIALIZED (
    SELECT replace(plainto_tsquery('english', %(text)s)::text, '&', '|')::tsquery AS query
)
SELECT m.id, m.content, m.tags
FROM pgrecall.memories m, any_word
WHERE m.namespace_id = %(namespace_id)s AND m.deleted_at IS NULL AND m.search_vector @@ any_word.query
ORDER BY ts_rank(m.search_vector, any_word.query) DESC
LIMIT %(leg_depth)s
