-- Returns the number of words in a search_vector, counting every occurrence: the document length of BM25.
CREATE OR REPLACE FUNCTION _pgrecall.count_words(vector tsvector)
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (SELECT COALESCE(sum(cardinality(l.positions)), 0)::integer FROM unnest(vector) l);
