-- Returns what of the lexical leg's weight the sparse terms take, and what is left to the leg.
--
-- If no candidate has a term of the query, the terms say nothing, and the leg keeps its weight.
--
-- lexical_weight, sparse_weight  from leg_inputs();  best_score  the best candidate's sparse score; NULL: none has terms
CREATE OR REPLACE FUNCTION _pgrecall.sparse_weights(
    lexical_weight double precision, sparse_weight double precision, best_score double precision
)
RETURNS TABLE (lexical double precision, sparse double precision)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 1
BEGIN ATOMIC
    SELECT CASE WHEN best_score > 0 THEN greatest(lexical_weight - sparse_weight, 0) ELSE lexical_weight END,
           CASE WHEN best_score > 0 THEN sparse_weight ELSE 0 END;
END;
