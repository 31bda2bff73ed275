-- Returns the characters of scripts without spaces between words, and of Korean, for a regular expression's brackets.
CREATE OR REPLACE FUNCTION _pgrecall.unspaced_class()
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN _pgrecall.cjk_class() || _pgrecall.syllabic_class();
