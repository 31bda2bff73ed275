-- Tells whether a filter can pass memories that are over now: superseded ones, or those that were valid at the asked time.
CREATE OR REPLACE FUNCTION _pgrecall.reads_past(filter pgrecall.recall_filter)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN COALESCE((filter).include_superseded, false) OR (filter).as_of IS NOT NULL OR _pgrecall.has_time_condition(filter);
