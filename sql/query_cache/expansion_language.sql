-- The language that a query is expanded in: the likeliest of those it is read in.
CREATE OR REPLACE FUNCTION _pgrecall.expansion_language(languages regconfig[], query text)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN _pgrecall.guess_language(languages, _pgrecall.pretokenize(_pgrecall.normalize_text(query)))::text;

COMMENT ON FUNCTION _pgrecall.expansion_language IS 'The language that a query is expanded in: the likeliest of those it is read in.';
