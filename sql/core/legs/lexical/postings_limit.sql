-- Returns how many postings to read per term for a list of a given depth.
CREATE OR REPLACE FUNCTION _pgrecall.postings_limit(settings pgrecall.recall_settings, depth integer)
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN greatest((settings).bm25_max_postings, 4 * depth);
