-- What there is without postings: any of the words, by ts_rank over the GIN index. No idf.
WITH any_word AS MATERIALIZED (
    SELECT pgrecall.any_word(%(languages)s::regconfig[], %(text)s) AS query
)
SELECT m.id, ts_rank(m.search_vector, a.query) AS score
FROM any_word a
JOIN pgrecall.memories m ON m.search_vector @@ a.query
WHERE m.namespace_id = %(namespace_id)s
  AND pgrecall.matches(m, NULL::pgrecall.recall_filter)
ORDER BY score DESC, m.id
LIMIT %(depth)s
