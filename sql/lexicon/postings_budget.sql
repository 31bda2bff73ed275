-- How many postings of each word a list of some depth is made from: a long list needs long lists of postings.
CREATE OR REPLACE FUNCTION pgrecall.postings_budget(settings pgrecall.recall_settings, depth integer)
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN greatest((settings).lexical_budget, 4 * depth);

COMMENT ON FUNCTION pgrecall.postings_budget IS 'How many postings of each word a list of some depth is made from.';
