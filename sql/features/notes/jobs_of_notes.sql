-- Declares the jobs of notes; _pgrecall.job_kinds() says what the keys mean.
CREATE OR REPLACE FUNCTION _pgrecall.jobs_of_notes()
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN jsonb '{"notes": {}}';
