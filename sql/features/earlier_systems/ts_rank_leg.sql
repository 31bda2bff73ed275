-- Ranks memories by ts_rank and importance: matches of a narrow query first, then matches of a broad one.
--
-- The second search runs only if the first finds fewer than depth memories. Each group is sorted by ts_rank_score(),
-- ties by id. If no filter has an index, the postings tell which memories may match (matching_memories).
-- ts_rank has no idf, and every match is fetched and ranked: BM25 is better and faster.
--
-- broad     NULL: use the narrow query only
-- min_rank  minimum ts_rank for a match of the broad query
-- importance_share  weight of importance in the score; ts_rank has the rest
CREATE OR REPLACE FUNCTION _pgrecall.ts_rank_leg(
    namespace_id integer, narrow tsquery, broad tsquery, filter pgrecall.recall_filter,
    depth integer, min_rank double precision, importance_share double precision
)
RETURNS TABLE (id bigint, rank integer, score double precision)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 50
BEGIN ATOMIC
    WITH exact AS MATERIALIZED (
        SELECT m.id, _pgrecall.ts_rank_score(m.search_vector, m.importance, narrow, importance_share) AS score
        FROM pgrecall.memories m
        WHERE m.namespace_id = ts_rank_leg.namespace_id
          AND (_pgrecall.has_indexed_condition(filter)
               OR m.id = ANY ((SELECT _pgrecall.matching_memories(ts_rank_leg.namespace_id, narrow))::bigint[]))
          AND m.search_vector @@ narrow AND _pgrecall.matches_filter(m, filter)
        ORDER BY score DESC, m.id
        LIMIT depth
    ), loose AS MATERIALIZED (
        SELECT m.id, _pgrecall.ts_rank_score(m.search_vector, m.importance, broad, importance_share) AS score
        FROM pgrecall.memories m
        WHERE (SELECT count(*) FROM exact) < depth
          AND m.namespace_id = ts_rank_leg.namespace_id
          AND (_pgrecall.has_indexed_condition(filter)
               OR m.id = ANY ((SELECT _pgrecall.matching_memories(ts_rank_leg.namespace_id, broad))::bigint[]))
          AND m.search_vector @@ broad
          AND (min_rank <= 0 OR ts_rank(m.search_vector, broad) >= min_rank)
          AND NOT EXISTS (SELECT FROM exact e WHERE e.id = m.id)
          AND _pgrecall.matches_filter(m, filter)
        ORDER BY score DESC, m.id
        LIMIT depth
    )
    SELECT found.id, (row_number() OVER (ORDER BY found.tier, found.score DESC, found.id))::integer, found.score
    FROM (
        SELECT e.id, e.score, 1 AS tier FROM exact e
        UNION ALL
        SELECT l.id, l.score, 2 FROM loose l
    ) found
    ORDER BY found.tier, found.score DESC, found.id
    LIMIT depth;
END;
