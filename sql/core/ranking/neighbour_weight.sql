-- Returns how much its neighbours in the session count for a memory of that length: in full up to some 150 words, less the longer it is.
--
-- A turn of a dialogue is about what was said around it. A page of text stands by itself (docs/adr/0035).
--
-- word_count   without stop words; n-grams of scripts without spaces count
-- octets       of its text: 900 are 150 English words, or 300 Chinese or Thai characters, whose n-grams are many more than words
CREATE OR REPLACE FUNCTION _pgrecall.neighbour_weight(word_count integer, octets integer)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN least(1, greatest(100::double precision / greatest(word_count, 1), 900::double precision / greatest(octets, 1)));
