-- Declares the jobs of the embedder; _pgrecall.job_kinds() says what the keys mean.
CREATE OR REPLACE FUNCTION _pgrecall.jobs_of_embedding()
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN jsonb '{"embedding": {"of_generation": true}}';
