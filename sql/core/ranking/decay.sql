-- Returns the decay factor of a score: 2^(-age / half_life), at least floor; 1 without a half-life.
--
-- The factor is 1 without a half-life or for a future time.
CREATE OR REPLACE FUNCTION _pgrecall.decay(age interval, half_life interval, floor double precision)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN COALESCE(
    -- power() raises an underflow beyond about a thousand half-lives. EXTRACT would compute in numeric.
    greatest(floor, power(2::double precision,
                          -least(greatest(date_part('epoch', age) / NULLIF(date_part('epoch', half_life), 0), 0), 1000))),
    1
);
