-- Builds the tsquery that matches every word of a query as a prefix; NULL if it has only stop words.
--
-- Memories hold stems, and a prefix of a word need not be a prefix of its stem: vacat and vacation find vacations,
-- vacati does not. Use the configuration simple for a namespace that relies on prefixes.
CREATE OR REPLACE FUNCTION _pgrecall.match_prefix(languages regconfig[], query text)
RETURNS tsquery
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN _pgrecall.match_all_words(languages, query, ':*');
