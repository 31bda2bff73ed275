-- The tsquery that wants one lexeme, whatever signs it is made of.
CREATE OR REPLACE FUNCTION _pgrecall.term_query(term text)
RETURNS tsquery
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ('''' || replace(replace(term, '\', '\\'), '''', '''''') || '''')::tsquery;

COMMENT ON FUNCTION _pgrecall.term_query IS 'The tsquery that wants one lexeme, whatever signs it is made of.';
