-- Normalises a range to [from, to), the form that every comparison uses. Empty stays empty; NULL stays NULL.
--
-- The smallest step of a timestamp is a microsecond.
CREATE OR REPLACE FUNCTION _pgrecall.to_half_open(period tstzrange)
RETURNS tstzrange
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN period IS NULL OR isempty(period) THEN period
    ELSE tstzrange(
        CASE WHEN lower_inc(period) THEN lower(period) ELSE lower(period) + interval '1 microsecond' END,
        CASE WHEN upper_inc(period) THEN upper(period) + interval '1 microsecond' ELSE upper(period) END
    )
END;
