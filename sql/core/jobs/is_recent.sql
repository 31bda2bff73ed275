-- Whether a stored time, such as that of a heartbeat, is at most so long ago, and no more ahead.
--
-- A time that is ahead by more is not: the clock was ahead when it was written.
CREATE OR REPLACE FUNCTION _pgrecall.is_recent(at timestamptz, age interval)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN at BETWEEN now() - age AND now() + age;
