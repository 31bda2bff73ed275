-- Returns the mean of paired differences with its 95 % interval: mean ± 1.96 standard errors.
CREATE OR REPLACE FUNCTION _pgrecall.gain_interval(gains double precision[])
RETURNS TABLE (mean double precision, low double precision, high double precision)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 1
BEGIN ATOMIC
    SELECT g.mean, g.mean - 1.96 * g.error, g.mean + 1.96 * g.error
    FROM (
        SELECT avg(gain) AS mean, stddev_samp(gain) / sqrt(count(*)) AS error FROM unnest(gain_interval.gains) AS gain
    ) g;
END;
