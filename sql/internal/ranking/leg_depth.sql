-- How long a list a leg is to yield: a multiple of k, or leg_depth; never fewer than k, and none without a weight.
--
-- pool  the leg's multiple of k; 0: leg_depth
CREATE OR REPLACE FUNCTION _pgrecall.leg_depth(weight double precision, pool double precision, leg_depth integer, k integer)
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN weight > 0 THEN greatest(k, CASE WHEN pool > 0 THEN ceil(pool * k)::integer ELSE leg_depth END) ELSE 0 END;

COMMENT ON FUNCTION _pgrecall.leg_depth IS 'How long a list a leg is to yield: never fewer than k; 0 without a weight.';
