-- Returns the age of a memory at a given moment. Times are clamped to the years 1 to 9999.
--
-- Before PostgreSQL 17 infinite timestamps cannot be subtracted, and one memory must not make a recall fail.
CREATE OR REPLACE FUNCTION _pgrecall.age_at(reference_time timestamptz, happened_at timestamptz)
RETURNS interval
LANGUAGE sql STABLE PARALLEL SAFE
RETURN least(greatest(reference_time, timestamptz '0001-01-01 00:00:00+00'), timestamptz '9999-12-31 00:00:00+00')
     - least(greatest(happened_at, timestamptz '0001-01-01 00:00:00+00'), timestamptz '9999-12-31 00:00:00+00');
