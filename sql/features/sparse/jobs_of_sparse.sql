-- Declares the jobs of sparse terms; _pgrecall.job_kinds() says what the keys mean.
CREATE OR REPLACE FUNCTION _pgrecall.jobs_of_sparse()
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN jsonb '{"sparse": {}}';
