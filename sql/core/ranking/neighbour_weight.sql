-- Returns how much its neighbours in the session count for a memory of that many words: in full up to 100, less the longer it is.
--
-- A turn of a dialogue is about what was said around it. A page of text stands by itself (docs/adr/0035).
CREATE OR REPLACE FUNCTION _pgrecall.neighbour_weight(word_count integer)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN least(1, 100::double precision / greatest(word_count, 1));
