-- Returns the dimension of a lexeme in sparse vectors: 28 bits of its SHA-256, so that no vocabulary has to be kept.
--
-- Of 100,000 lexemes some 20 share a dimension with another one. hashtext() may differ between versions of PostgreSQL.
CREATE OR REPLACE FUNCTION _pgrecall.term_dimension(term text)
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ('x' || encode(substr(sha256(convert_to(term, 'UTF8')), 1, 4), 'hex'))::bit(28)::integer + 1;
