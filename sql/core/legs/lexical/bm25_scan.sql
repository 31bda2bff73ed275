-- Returns the best memories by BM25 without impacts, for filters that leave few of the memories in the best postings.
--
-- The planner picks the index that suits the filters; if none does, all memories in the terms' postings are looked at. Each
-- memory that holds a term is scored from its search_vector.
--
-- words, idfs  from query_term_weights()
-- any_word     the tsquery that matches any of the terms
-- required     an additional tsquery that a memory must match; NULL: none
CREATE OR REPLACE FUNCTION _pgrecall.bm25_scan(
    namespace_id integer, words text[], idfs double precision[], any_word tsquery, required tsquery,
    filter pgrecall.recall_filter, depth integer, settings pgrecall.bm25_parameters
)
RETURNS TABLE (id bigint, score double precision)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 50
BEGIN ATOMIC
    SELECT s.id, s.score
    FROM (
        SELECT m.id,
               _pgrecall.round_score((
                   SELECT sum(p.part) FROM _pgrecall.bm25_parts(m.search_vector, m.word_count, words, idfs, settings) p
               )) AS score
        FROM pgrecall.memories m
        WHERE m.namespace_id = bm25_scan.namespace_id
          AND (_pgrecall.has_indexed_condition(filter)
               OR m.id = ANY ((SELECT _pgrecall.matching_memories(
                   bm25_scan.namespace_id, CASE WHEN required IS NULL THEN any_word ELSE any_word && required END
               ))::bigint[]))
          AND m.search_vector @@ any_word
          AND (required IS NULL OR m.search_vector @@ required) AND _pgrecall.matches_filter(m, filter)
        OFFSET 0  -- so that the score is computed once
    ) s
    WHERE s.score IS NOT NULL  -- a term that occurs only in fields of weight 0 does not count
    ORDER BY s.score DESC, s.id
    LIMIT depth;
END;
