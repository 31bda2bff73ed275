-- Builds the tsquery that matches one lexeme, with any special characters quoted.
CREATE OR REPLACE FUNCTION _pgrecall.term_query(term text)
RETURNS tsquery
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ('''' || replace(replace(term, '\', '\\'), '''', '''''') || '''')::tsquery;
