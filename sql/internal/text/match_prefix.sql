-- The tsquery that wants every word of a query or a word that begins with it; NULL if there is no word to look for.
--
-- Memories hold stems, so what begins a word may begin no stem: of vacation, vacat and vacation find vacations, vacati
-- does not. Namespaces that live from this take the configuration simple.
CREATE OR REPLACE FUNCTION _pgrecall.match_prefix(languages regconfig[], query text)
RETURNS tsquery
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN _pgrecall.match_all_words(languages, query, ':*');

COMMENT ON FUNCTION _pgrecall.match_prefix IS
    'The tsquery that wants every word of a query or a word that begins with it; NULL for stop words only.';
