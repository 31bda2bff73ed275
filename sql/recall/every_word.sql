-- The tsquery that wants every word of a text; NULL if the text has no word to look for.
CREATE OR REPLACE FUNCTION pgrecall.every_word(language regconfig, query text)
RETURNS tsquery
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN to_tsvector(language, query) <> ''::tsvector THEN plainto_tsquery(language, query) END;

COMMENT ON FUNCTION pgrecall.every_word IS 'The tsquery that wants every word of a text; NULL for stop words only.';
