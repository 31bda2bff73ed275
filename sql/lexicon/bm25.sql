-- The exact BM25 score of one memory for a query.
--
-- terms, idfs  the query's words and their weights, as query_words() gives them
CREATE OR REPLACE FUNCTION pgrecall.bm25(
    vector tsvector, terms text[], idfs double precision[], settings pgrecall.impact_settings
)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT sum(idfs[array_position(terms, i.term)] * i.impact)
    FROM pgrecall.impacts(vector, settings, terms) i
);

COMMENT ON FUNCTION pgrecall.bm25 IS 'The exact BM25 score of one memory for a query; NULL if it holds none of the words.';
