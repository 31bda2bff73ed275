-- Returns the confidence that a memory answers the query, 0 to 1: from its relevance, and how far it stands out.
--
-- A logistic regression on the best results of eight data sets with three encoders, for half of which the answering
-- memories had been taken out (docs/adr/0023).
--
-- relevance  share of the highest possible relevance
-- rest       mean of these shares over the second to tenth best memories; a missing one counts as 0
CREATE OR REPLACE FUNCTION _pgrecall.confidence(relevance double precision, rest double precision)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN 1 / (1 + exp(3.7 - 1.2 * relevance - 10 * (relevance - rest)));

COMMENT ON FUNCTION _pgrecall.confidence IS
    'Returns the confidence that a memory answers the query, 0 to 1: from its relevance, and how far it stands out.';
