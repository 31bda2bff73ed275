-- How messages name a memory that is stored: memory, or memory 2 of 5. A number alone reads like an id, and one memory
-- needs none.
--
-- place  its place in the batch, from 1;  total  how many the batch has
CREATE OR REPLACE FUNCTION _pgrecall.memory_of_batch(place bigint, total bigint)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
RETURN CASE WHEN total = 1 THEN 'memory' ELSE format('memory %s of %s', place, total) END;
