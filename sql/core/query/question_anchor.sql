-- Returns the time from which a query's "last week" counts; NULL if the filter asks for a time: then none is read from the query.
--
-- reference_time  of the call; NULL: now
CREATE OR REPLACE FUNCTION _pgrecall.question_anchor(filter pgrecall.recall_filter, reference_time timestamptz)
RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN NOT _pgrecall.has_time_condition(filter) THEN COALESCE(reference_time, now()) END;
