-- The lexical leg: memories that hold the words of the query, best first.
--
-- Memories with every word come before memories with some of the words; the second search runs only when the first
-- finds fewer than depth. Within each, score = 0.7 ts_rank + 0.3 importance, ties by id.
--
-- language  text-search configuration of the query
-- depth     how many memories at the most
-- min_rank  ts_rank below which a memory with only some of the words does not count
CREATE OR REPLACE FUNCTION pgrecall.lexical_leg(
    namespace_id integer, query text, language regconfig, filter pgrecall.recall_filter,
    depth integer, min_rank double precision
)
RETURNS TABLE (id bigint, rank integer, score double precision)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 50
BEGIN ATOMIC
    WITH strict AS MATERIALIZED (
        SELECT m.id, 0.7 * ts_rank(m.search_vector, pgrecall.every_word(lexical_leg.language, query)) + 0.3 * m.importance AS score
        FROM pgrecall.memories m
        WHERE m.namespace_id = lexical_leg.namespace_id
          AND m.search_vector @@ pgrecall.every_word(lexical_leg.language, query)
          AND pgrecall.matches(m, filter)
        ORDER BY score DESC, m.id
        LIMIT depth
    ), broad AS MATERIALIZED (
        SELECT m.id, 0.7 * ts_rank(m.search_vector, pgrecall.any_word(lexical_leg.language, query)) + 0.3 * m.importance AS score
        FROM pgrecall.memories m
        WHERE (SELECT count(*) FROM strict) < depth
          AND m.namespace_id = lexical_leg.namespace_id
          AND m.search_vector @@ pgrecall.any_word(lexical_leg.language, query)
          AND (min_rank <= 0 OR ts_rank(m.search_vector, pgrecall.any_word(lexical_leg.language, query)) >= min_rank)
          AND NOT EXISTS (SELECT FROM strict s WHERE s.id = m.id)
          AND pgrecall.matches(m, filter)
        ORDER BY score DESC, m.id
        LIMIT depth
    )
    SELECT found.id, (row_number() OVER (ORDER BY found.tier, found.score DESC, found.id))::integer, found.score
    FROM (
        SELECT s.id, s.score, 1 AS tier FROM strict s
        UNION ALL
        SELECT b.id, b.score, 2 FROM broad b
    ) found
    ORDER BY found.tier, found.score DESC, found.id
    LIMIT depth;
END;

COMMENT ON FUNCTION pgrecall.lexical_leg IS
    'Memories that hold every word of the query, then those that hold some, each by 0.7 ts_rank + 0.3 importance.';
