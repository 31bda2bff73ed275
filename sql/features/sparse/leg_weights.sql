-- Returns the weights of the legs and of the sparse terms in a recall. The terms have theirs from the lexical leg.
--
-- If no candidate has a term of the query, the terms say nothing, and the lexical leg keeps its weight.
--
-- lexical_weight, dense_weight, sparse_weight  from leg_inputs();  best_score  the best candidate's sparse score; NULL: none has terms
CREATE OR REPLACE FUNCTION _pgrecall.leg_weights(
    lexical_weight double precision, dense_weight double precision, sparse_weight double precision, best_score double precision
)
RETURNS TABLE (lexical double precision, dense double precision, sparse double precision, total double precision)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 1
BEGIN ATOMIC
    SELECT w.lexical, dense_weight, w.sparse, w.lexical + dense_weight + w.sparse
    FROM (
        SELECT CASE WHEN best_score > 0 THEN greatest(lexical_weight - sparse_weight, 0) ELSE lexical_weight END,
               CASE WHEN best_score > 0 THEN sparse_weight ELSE 0 END
    ) w (lexical, sparse);
END;
