-- Returns the weight of one occurrence of a term, by the label of its field in search_vector.
CREATE OR REPLACE FUNCTION _pgrecall.field_weight(label text, settings pgrecall.bm25_parameters)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE label
    WHEN 'A' THEN (settings).field_weight_a WHEN 'B' THEN (settings).field_weight_b
    WHEN 'C' THEN (settings).field_weight_c ELSE (settings).field_weight_d
END;
