-- Returns how often a memory holds a term, each occurrence weighted by its field.
--
-- Most terms occur once. No subquery: the plan of each query that calls it would hold one.
--
-- labels  the fields of its occurrences, of search_vector; NULL: a value (value_terms)
CREATE OR REPLACE FUNCTION _pgrecall.term_frequency(labels text[], settings pgrecall.bm25_parameters)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN cardinality(labels) = 1 THEN CASE labels[1]
        WHEN 'A' THEN (settings).field_weight_a WHEN 'B' THEN (settings).field_weight_b
        WHEN 'C' THEN (settings).field_weight_c ELSE (settings).field_weight_d
    END
    WHEN labels IS NULL THEN (settings).field_weight_a
    ELSE cardinality(array_positions(labels, 'A')) * (settings).field_weight_a
       + cardinality(array_positions(labels, 'B')) * (settings).field_weight_b
       + cardinality(array_positions(labels, 'C')) * (settings).field_weight_c
       + cardinality(array_positions(labels, 'D')) * (settings).field_weight_d
END;
