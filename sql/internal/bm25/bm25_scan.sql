-- The best memories for some words by BM25, without postings: for filters that leave few of what the postings gave.
--
-- Whatever index suits the filters finds the memories, and each that holds a word is scored from its search_vector.
--
-- words, idfs  as query_words() gives them
-- any_word     the tsquery that wants any of the words
-- required     what else a memory has to match; NULL: nothing
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
               round((
                   SELECT sum(p.part) FROM _pgrecall.bm25_parts(m.search_vector, m.word_count, words, idfs, settings) p
               )::numeric, 9)::double precision AS score
        FROM pgrecall.memories m
        WHERE m.namespace_id = bm25_scan.namespace_id AND m.search_vector @@ any_word
          AND (required IS NULL OR m.search_vector @@ required) AND _pgrecall.matches_filter(m, filter)
        OFFSET 0  -- so that the score is not made twice
    ) s
    WHERE s.score IS NOT NULL  -- a word in a field without weight is none
    ORDER BY s.score DESC, s.id
    LIMIT depth;
END;

COMMENT ON FUNCTION _pgrecall.bm25_scan IS
    'The best memories for some words by BM25, without postings: for filters that leave few of what the postings gave.';
