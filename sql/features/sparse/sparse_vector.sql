-- Returns a sparse vector of lexemes with weights; NULL if none has a weight above 0. Of lexemes of one dimension the highest counts.
CREATE OR REPLACE FUNCTION _pgrecall.sparse_vector(terms text[], weights double precision[])
RETURNS pgvector.sparsevec
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT ('{' || string_agg(d.dimension || ':' || d.weight, ',' ORDER BY d.dimension) || '}/268435456')::pgvector.sparsevec
    FROM (
        SELECT _pgrecall.term_dimension(u.term) AS dimension, max(u.weight)::real AS weight
        FROM unnest(terms, weights) u (term, weight)
        WHERE u.weight > 0
        GROUP BY 1
    ) d;
END;
