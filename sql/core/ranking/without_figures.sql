-- Removes numbers from a memory's lexemes: what is left says what they count or name.
CREATE OR REPLACE FUNCTION _pgrecall.without_figures(words tsvector)
RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ts_delete(words, ARRAY(SELECT l.lexeme FROM unnest(tsvector_to_array(words)) l (lexeme) WHERE l.lexeme ~ '^[0-9]'));
