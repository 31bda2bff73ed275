-- Removes values in canonical notation from a memory's lexemes: numbers, times and amounts repeat what its words say.
CREATE OR REPLACE FUNCTION _pgrecall.without_values(words tsvector)
RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ts_delete(words, ARRAY(SELECT l.lexeme FROM unnest(tsvector_to_array(words)) l (lexeme) WHERE starts_with(l.lexeme, '=')));
