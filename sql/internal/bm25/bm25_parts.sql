-- What each word of a query adds to the exact BM25 score of one memory: idf * impact. The score is their sum.
--
-- The same as from impacts(), for a memory whose length is known: only the words that it shares with the query are
-- looked at. A set, since a function that returns the sum would not be written into the query that asks for it.
--
-- vector, word_count  the memory's search_vector and its length; NULL: it is counted
-- words, idfs         the query's words and their weights, as query_words() gives them
CREATE OR REPLACE FUNCTION _pgrecall.bm25_parts(
    vector tsvector, word_count integer, words text[], idfs double precision[], settings pgrecall.bm25_parameters
)
RETURNS TABLE (part double precision)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 5
BEGIN ATOMIC
    SELECT idfs[w.place] * (w.tf * ((settings).bm25_k1 + 1) / (w.tf + w.norm))::real
    FROM (
        SELECT array_position(words, u.lexeme) AS place,
               CASE WHEN cardinality(u.weights) = 1 THEN _pgrecall.field_weight(u.weights[1], settings)
                    ELSE (SELECT sum(_pgrecall.field_weight(o.weight, settings)) FROM unnest(u.weights) o (weight))
               END AS tf,
               (settings).bm25_k1
               * (1 - (settings).bm25_b + (settings).bm25_b
                    * COALESCE(word_count, (SELECT sum(cardinality(l.positions)) FROM unnest(vector) l))
                    / (settings).bm25_length_pivot) AS norm
        FROM unnest(vector) u
        WHERE u.lexeme = ANY (words)
    ) w
    WHERE w.tf > 0;
END;

COMMENT ON FUNCTION _pgrecall.bm25_parts IS
    'What each word of a query adds to the exact BM25 score of one memory; no rows if it holds none of the words.';
