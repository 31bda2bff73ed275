-- A range as [from, to), which is how every comparison here takes it; an empty one stays empty, and none is none.
--
-- A microsecond is the least step of a moment.
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

COMMENT ON FUNCTION _pgrecall.to_half_open IS 'A range as [from, to); an empty one stays empty.';
