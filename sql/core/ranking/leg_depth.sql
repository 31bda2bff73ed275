-- Returns how many candidates a leg fetches: pool times k, or leg_depth. At least k; 0 if the leg has no weight.
--
-- pool  multiple of k for this leg; 0: use leg_depth
CREATE OR REPLACE FUNCTION _pgrecall.leg_depth(weight double precision, pool double precision, leg_depth integer, k integer)
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN weight > 0 THEN greatest(k, CASE WHEN pool > 0 THEN ceil(pool * k)::integer ELSE leg_depth END) ELSE 0 END;
