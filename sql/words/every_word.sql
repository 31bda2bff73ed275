-- The tsquery that wants every word of a query, each in any language; NULL if there is no word to look for.
CREATE OR REPLACE FUNCTION pgrecall.every_word(languages regconfig[], query text)
RETURNS tsquery
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN pgrecall.all_words(languages, query, '');

COMMENT ON FUNCTION pgrecall.every_word IS 'The tsquery that wants every word of a query; NULL for stop words only.';
