-- How many postings of each word a list of some depth is made from: a long list needs long lists of postings.
CREATE OR REPLACE FUNCTION _pgrecall.postings_limit(settings pgrecall.recall_settings, depth integer)
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN greatest((settings).bm25_max_postings, 4 * depth);

COMMENT ON FUNCTION _pgrecall.postings_limit IS 'How many postings of each word a list of some depth is made from.';
