-- Returns the language in which a query is expanded: the most likely of its languages.
CREATE OR REPLACE FUNCTION _pgrecall.expansion_language(languages regconfig[], query text)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN _pgrecall.guess_language(languages, _pgrecall.pretokenize(_pgrecall.normalize_text(query)))::text;
