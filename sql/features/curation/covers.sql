-- Whether a memory is found by every filter that finds another one: it has that one's category, tags and metadata, and maybe more.
--
-- Whose a memory is may stand there (users, agents and runs as metadata): another one says the same, and does not stand for it.
CREATE OR REPLACE FUNCTION _pgrecall.covers(successor pgrecall.memories, closed pgrecall.memories)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (closed.category IS NULL OR closed.category IS NOT DISTINCT FROM successor.category)
       AND successor.tags @> closed.tags AND successor.metadata @> closed.metadata;
