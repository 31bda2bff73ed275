-- The hybrid search that documentation of hosted PostgreSQL teaches: one SQL function, words by ts_rank over any of
-- them, vectors by distance, fused by reciprocal rank. LANGUAGE sql without a volatility, as it is usually written.
CREATE OR REPLACE FUNCTION bench.hybrid_search(
    query_text text, query_embedding halfvec, match_count integer, in_namespace integer, rrf_k integer DEFAULT 60
)
RETURNS SETOF pgrecall.memories
LANGUAGE sql
AS $function$
    WITH any_word AS (
        SELECT replace(plainto_tsquery('english', query_text)::text, '&', '|')::tsquery AS query
    ), full_text AS (
        SELECT m.id, row_number() OVER (ORDER BY ts_rank(m.search_vector, any_word.query) DESC) AS place
        FROM pgrecall.memories m, any_word
        WHERE m.namespace_id = in_namespace AND m.search_vector @@ any_word.query
        ORDER BY place
        LIMIT 50
    ), semantic AS (
        SELECT m.id, row_number() OVER (ORDER BY m.embedding <=> query_embedding) AS place
        FROM pgrecall.memories m
        WHERE m.namespace_id = in_namespace
        ORDER BY place
        LIMIT 50
    )
    SELECT m.*
    FROM full_text
    FULL OUTER JOIN semantic ON semantic.id = full_text.id
    JOIN pgrecall.memories m ON m.id = COALESCE(full_text.id, semantic.id)
    ORDER BY COALESCE(1.0 / (rrf_k + full_text.place), 0.0) + COALESCE(1.0 / (rrf_k + semantic.place), 0.0) DESC
    LIMIT match_count
$function$
