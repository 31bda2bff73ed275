-- Raises a score toward a level by a share of the gap. The result never passes the level and is never below the score.
--
-- share  0 to 1; NULL leaves the score unchanged
CREATE OR REPLACE FUNCTION _pgrecall.raise_toward(score double precision, share double precision, level double precision)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN score + _pgrecall.share_of_gap(score, share, level);
