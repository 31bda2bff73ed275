-- Tells whether a filter asks for a time at which something happened.
CREATE OR REPLACE FUNCTION _pgrecall.has_time_condition(filter pgrecall.recall_filter)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN num_nonnulls((filter).since, (filter).until, (filter).timeframe) > 0;
