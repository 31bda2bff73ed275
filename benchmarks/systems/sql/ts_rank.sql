-- The older lexical service on PostgreSQL: every word, then some words, then substrings if nothing matched;
-- within each by 0.7 ts_rank + 0.3 importance.
CREATE FUNCTION bench.ts_rank_search(scope text, query text, k integer)
RETURNS TABLE (id text)
LANGUAGE sql STABLE
BEGIN ATOMIC
    WITH asked AS (
        SELECT plainto_tsquery(query) AS every_word, bench.any_word(query) AS any_word
    ), matched AS (
        SELECT d.id, CASE WHEN d.fts @@ a.every_word THEN 1 ELSE 2 END AS tier,
               0.7 * ts_rank(d.fts, CASE WHEN d.fts @@ a.every_word THEN a.every_word ELSE a.any_word END)
               + 0.3 * d.importance AS score
        FROM asked a
        JOIN bench.documents d ON d.fts @@ a.any_word
        WHERE d.namespace = scope
    ), found AS (
        SELECT m.id, m.tier, m.score FROM matched m
        UNION ALL
        SELECT d.id, 3, 0.3 * d.importance
        FROM bench.documents d
        WHERE NOT EXISTS (SELECT FROM matched) AND d.namespace = scope
          AND d.content ILIKE ANY (
              SELECT '%' || word || '%' FROM regexp_split_to_table(query, '\W+') AS word WHERE length(word) > 2
          )
    )
    SELECT f.id FROM found f ORDER BY f.tier, f.score DESC, f.id LIMIT k;
END;
