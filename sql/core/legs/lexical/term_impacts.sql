-- Returns the terms of a memory, each with its impact: the part of BM25 that does not depend on the query.
--
--   impact = tf (k1 + 1) / (tf + k1 (1 - b + b * length / pivot))
--
-- tf is the term frequency, each occurrence weighted by its field (A title and content, B expanded keywords, C tags,
-- D category). length is the number of words of the memory. The pivot is a constant where the textbook has the average
-- length: an impact must not change when other memories are added or removed.
--
-- Robertson, Zaragoza: The Probabilistic Relevance Framework: BM25 and Beyond, 2009; fields as in BM25F.
--
-- wanted      the terms to return; NULL: all
-- word_count  the length; NULL: count it, for each term anew
CREATE OR REPLACE FUNCTION _pgrecall.term_impacts(
    vector tsvector, settings pgrecall.bm25_parameters, wanted text[] DEFAULT NULL, word_count integer DEFAULT NULL
)
RETURNS TABLE (term text, impact real)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 30
BEGIN ATOMIC
    SELECT w.lexeme, (w.tf * ((settings).bm25_k1 + 1) / (w.tf + w.norm))::real
    FROM (
        SELECT u.lexeme, _pgrecall.term_frequency(u.weights, settings) AS tf,
               (settings).bm25_k1
               * (1 - (settings).bm25_b + (settings).bm25_b
                    * COALESCE(word_count, _pgrecall.count_words(vector))
                    / (settings).bm25_length_pivot) AS norm
        -- Deletes from the vector what is not wanted: faster than to unnest all its terms, each with two arrays.
        FROM unnest(CASE WHEN wanted IS NULL THEN vector
                         ELSE ts_delete(vector, tsvector_to_array(ts_delete(vector, wanted))) END) u
    ) w
    WHERE w.tf > 0;
END;
