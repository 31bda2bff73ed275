-- Returns LIKE patterns as a cheap prefilter for time_phrases(): each query that one of them matches, matches one of these.
--
-- The planner computes it once a session. The caller puts a space before the query, in lower case.
CREATE OR REPLACE FUNCTION _pgrecall.translated_time_hints()
RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ARRAY(SELECT DISTINCT h.hint FROM _pgrecall.time_phrases() p CROSS JOIN unnest(p.hints) h (hint));
