-- Returns what raises a score toward a level: a share of the gap between them. Never below 0, and never past the level.
--
-- share  0 to 1; NULL raises nothing
CREATE OR REPLACE FUNCTION _pgrecall.share_of_gap(score double precision, share double precision, level double precision)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN COALESCE(share * greatest(level - score, 0), 0);
