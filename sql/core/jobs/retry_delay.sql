-- How long a failed job waits for its next attempt: twice as long after each attempt, up to an hour, with a jitter of a quarter.
--
-- attempts  how many failed before this one;  first  after the first, a day at most
CREATE OR REPLACE FUNCTION _pgrecall.retry_delay(attempts integer, first interval DEFAULT '30 seconds')
RETURNS interval
LANGUAGE sql VOLATILE
RETURN least(least(least(first, '1 day') * 2 ^ attempts, greatest(first, '1 hour')) * (0.75 + random() / 2), '1 day');
