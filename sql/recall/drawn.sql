-- A score, drawn up to a level by a share of what lies between them. Never beyond the level, and never down.
--
-- share  NULL: nothing draws it
CREATE OR REPLACE FUNCTION pgrecall.drawn(score double precision, share double precision, level double precision)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN score + COALESCE(share * greatest(level - score, 0), 0);

COMMENT ON FUNCTION pgrecall.drawn IS 'A score, drawn up to a level by a share of what lies between them.';
