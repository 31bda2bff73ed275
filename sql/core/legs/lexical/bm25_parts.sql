-- Returns what each query term adds to the exact BM25 score of one memory: idf * impact. The score is their sum. No rows if
-- no term matches.
--
-- It gives the same values as term_impacts(), but reads only the terms that memory and query share. It returns a set,
-- because the planner would not inline a function that returns the sum.
--
-- vector, word_count  the memory's search_vector and its length; NULL: count it
-- words, idfs         the query's terms and their weights, from query_term_weights()
CREATE OR REPLACE FUNCTION _pgrecall.bm25_parts(
    vector tsvector, word_count integer, words text[], idfs double precision[], settings pgrecall.bm25_parameters
)
RETURNS TABLE (part double precision)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 5
BEGIN ATOMIC
    SELECT idfs[w.place] * (w.tf * ((settings).bm25_k1 + 1) / (w.tf + w.norm))::real
    FROM (
        SELECT array_position(words, u.lexeme) AS place,
               _pgrecall.term_frequency(u.weights, settings) AS tf,
               (settings).bm25_k1
               * (1 - (settings).bm25_b + (settings).bm25_b
                    * COALESCE(word_count, _pgrecall.count_words(vector))
                    / (settings).bm25_length_pivot) AS norm
        -- Deletes from the vector what is not a query term: faster than to unnest all its terms, each with two arrays.
        FROM unnest(ts_delete(vector, tsvector_to_array(ts_delete(vector, words)))) u
    ) w
    WHERE w.tf > 0;
END;
