-- Returns the reciprocal rank fusion term of one leg: weight / (k + rank); 0 if the leg did not find the memory.
--
-- Cormack, Clarke, Büttcher: Reciprocal Rank Fusion Outperforms Condorcet and Individual Rank Learning Methods, SIGIR
-- 2009.
CREATE OR REPLACE FUNCTION _pgrecall.rrf(rank integer, weight double precision, k double precision)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN COALESCE(weight / (k + rank), 0);
