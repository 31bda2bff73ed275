-- Whether a stored time is still to come, and may be waited for.
--
-- It may not if it is further ahead than anything stores: a clock that was ahead when it was written would delay a memory for
-- as long as it was ahead.
--
-- longest  what is stored at most, counted from now
CREATE OR REPLACE FUNCTION _pgrecall.is_ahead(at timestamptz, longest interval DEFAULT '1 day')
RETURNS boolean
LANGUAGE sql VOLATILE
RETURN COALESCE(at > clock_timestamp() AND at <= clock_timestamp() + longest, false);
