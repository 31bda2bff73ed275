-- Removes what has a digit, and values in canonical notation, from a memory's lexemes: what says the same of another number is left.
CREATE OR REPLACE FUNCTION _pgrecall.without_numbers(words tsvector)
RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ts_delete(strip(words), ARRAY(SELECT l.lexeme FROM unnest(tsvector_to_array(words)) l (lexeme) WHERE l.lexeme ~ '[0-9=]'));
