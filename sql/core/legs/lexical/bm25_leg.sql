-- Returns the best memories by BM25, best first (bm25_search).
--
-- parsed  from parse_query()
-- depth   maximum number of memories
CREATE OR REPLACE FUNCTION _pgrecall.bm25_leg(
    namespace_id integer, parsed pgrecall.parsed_query, filter pgrecall.recall_filter, depth integer
)
RETURNS TABLE (id bigint, rank integer, score double precision)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 50
BEGIN ATOMIC
    SELECT f.id, (row_number() OVER (ORDER BY f.score DESC, f.id))::integer, f.score
    FROM _pgrecall.bm25_search(namespace_id, parsed, filter, depth) s
    CROSS JOIN LATERAL unnest(s.ids, s.scores) f (id, score)
    ORDER BY f.score DESC, f.id;
END;
