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
-- wanted  the terms to return; NULL: all
CREATE OR REPLACE FUNCTION _pgrecall.term_impacts(vector tsvector, settings pgrecall.bm25_parameters, wanted text[] DEFAULT NULL)
RETURNS TABLE (term text, impact real)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 30
BEGIN ATOMIC
    SELECT w.lexeme,
           (w.tf * ((settings).bm25_k1 + 1)
            / (w.tf + (settings).bm25_k1
                      * (1 - (settings).bm25_b + (settings).bm25_b * w.length / (settings).bm25_length_pivot)))::real
    FROM (
        SELECT u.lexeme, d.length, _pgrecall.term_frequency(u.weights, settings) AS tf
        FROM (SELECT COALESCE(sum(cardinality(l.positions)), 0) AS length FROM unnest(vector) l) d
        CROSS JOIN LATERAL unnest(vector) u
        WHERE wanted IS NULL OR u.lexeme = ANY (wanted)
    ) w
    WHERE w.tf > 0;
END;
