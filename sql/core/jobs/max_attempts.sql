-- How many attempts a job has, of whatever kind; a lost lease is one, because the text may have crashed its worker.
CREATE OR REPLACE FUNCTION _pgrecall.max_attempts()
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN 5;
