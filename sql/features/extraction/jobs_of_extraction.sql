-- Declares the jobs of extraction; _pgrecall.job_kinds() says what the keys mean.
CREATE OR REPLACE FUNCTION _pgrecall.jobs_of_extraction()
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN jsonb '{"text": {}, "llm": {}}';
