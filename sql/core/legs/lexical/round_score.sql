-- Rounds a score to nine places, so that the same terms tie regardless of the order of summation.
--
-- Without numeric, which takes ten times as long: a score far below 2^53 / 10^9 loses nothing.
CREATE OR REPLACE FUNCTION _pgrecall.round_score(score double precision)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN round(score * 1000000000) / 1000000000;
