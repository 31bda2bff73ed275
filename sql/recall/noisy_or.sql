-- Two independent grounds for a score of at most `top`, together: each takes its share of what the other leaves open.
--
-- Never less than either, never more than top, and the same in any order.
CREATE OR REPLACE FUNCTION pgrecall.noisy_or(score double precision, share double precision, top double precision)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN score + share * greatest(top - score, 0);

COMMENT ON FUNCTION pgrecall.noisy_or IS 'A score, raised by a share (0 to 1) of what it lacks to the top one.';
