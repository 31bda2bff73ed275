-- Returns what each query term adds to the exact BM25 score of one memory: idf * impact. The score is their sum. No rows if
-- no term matches.
--
-- It returns a set, because the planner would not inline a function that returns the sum.
--
-- vector, word_count  the memory's search_vector and its length; NULL: count it
-- words, idfs         the query's terms and their weights, from query_term_weights()
CREATE OR REPLACE FUNCTION _pgrecall.bm25_parts(
    vector tsvector, word_count integer, words text[], idfs double precision[], settings pgrecall.bm25_parameters
)
RETURNS TABLE (part double precision)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 5
BEGIN ATOMIC
    SELECT idfs[array_position(words, i.term)] * i.impact
    FROM _pgrecall.term_impacts(vector, settings, words, word_count) i;
END;
