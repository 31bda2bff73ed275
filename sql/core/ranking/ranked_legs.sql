-- Returns what each leg and the sparse terms gave a ranked memory: the parts that leg_parts() added up, and the weights of which
-- leg_inputs() has the total.
--
-- The graph leg is not among them: it adds to their sum.
--
-- place  the order of the legs
CREATE OR REPLACE FUNCTION _pgrecall.ranked_legs(memory pgrecall.ranked)
RETURNS TABLE (place integer, name text, rank integer, weight double precision, part double precision)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 3
BEGIN ATOMIC
    SELECT l.place, l.name, l.rank, l.weight, l.part
    FROM (VALUES
        (1, 'lexical', (memory).lexical_rank, (memory).lexical_weight, (memory).lexical_part),
        (2, 'dense', (memory).dense_rank, (memory).dense_weight, (memory).dense_part),
        (3, 'sparse', NULL, (memory).sparse_weight, (memory).sparse_part)
    ) l (place, name, rank, weight, part);
END;
