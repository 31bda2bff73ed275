-- Returns the exact BM25 score of one memory (bm25_parts); NULL if no term matches.
--
-- For terms that few queries have. The planner does not write this function into the query that calls it, so it costs nothing
-- where it is not called.
--
-- The arguments are those of bm25_parts().
CREATE OR REPLACE FUNCTION _pgrecall.bm25_score(
    vector tsvector, word_count integer, words text[], idfs double precision[], settings pgrecall.bm25_parameters
)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (SELECT sum(p.part) FROM _pgrecall.bm25_parts(vector, word_count, words, idfs, settings) p);
