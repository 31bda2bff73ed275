-- The graph leg's exact score of a link to a memory: the level that the link leads to, times its share. A memory's best link counts.
CREATE OR REPLACE FUNCTION _pgrecall.graph_score(share double precision, level double precision)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN share * level;
