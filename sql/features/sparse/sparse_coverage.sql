-- Returns from which share of the score of a memory with every query word the best sparse score counts in full.
--
-- Below it, it counts proportionally less, as lexical_coverage has it for the lexical leg (docs/adr/0034).
CREATE OR REPLACE FUNCTION _pgrecall.sparse_coverage()
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN 0.2::double precision;
