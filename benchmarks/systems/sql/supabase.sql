-- Hybrid search as https://supabase.com/docs/guides/ai/hybrid-search describes it, in our words: websearch_to_tsquery
-- (every word wanted) ranked by ts_rank_cd, vectors by inner product, twice as many of each as asked for, at most 30
-- asked for, fused by reciprocal rank with k = 50 and equal weights. The argument `scope` is the only addition.
CREATE FUNCTION bench.supabase_search(scope text, query text, query_embedding vector, match_count integer)
RETURNS TABLE (id text)
LANGUAGE sql STABLE
BEGIN ATOMIC
    WITH by_words AS (
        SELECT d.id, row_number() OVER (ORDER BY ts_rank_cd(d.fts, websearch_to_tsquery(query)) DESC, d.id) AS place
        FROM bench.documents d
        WHERE d.namespace = scope AND d.fts @@ websearch_to_tsquery(query)
        ORDER BY place
        LIMIT 2 * least(match_count, 30)
    ), by_meaning AS (
        SELECT d.id, row_number() OVER (ORDER BY d.embedding <#> query_embedding, d.id) AS place
        FROM bench.documents d
        WHERE d.namespace = scope AND d.embedding IS NOT NULL
        ORDER BY place
        LIMIT 2 * least(match_count, 30)
    )
    SELECT id
    FROM by_words w
    FULL OUTER JOIN by_meaning m USING (id)
    ORDER BY COALESCE(1.0 / (50 + w.place), 0) + COALESCE(1.0 / (50 + m.place), 0) DESC, id
    LIMIT least(match_count, 30);
END;
