-- What age leaves of a score: 2^(-age / half_life), no less than a floor; 1 without a half-life, and for what lies ahead.
CREATE OR REPLACE FUNCTION _pgrecall.decay(age interval, half_life interval, floor double precision)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN COALESCE(
    -- Past a thousand half-lives power() would raise an underflow.
    greatest(floor, power(2::double precision,
                          -least(greatest(EXTRACT(epoch FROM age) / NULLIF(EXTRACT(epoch FROM half_life), 0), 0), 1000)::double precision)),
    1
);

COMMENT ON FUNCTION _pgrecall.decay IS 'What age leaves of a score: 2^(-age / half_life), no less than floor; 1 without a half-life.';
