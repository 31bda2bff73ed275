-- Declares the jobs of curation; _pgrecall.job_kinds() says what the keys mean.
--
-- A memory is compared once it is embedded. Without a model, or if its embedding has failed, it is compared by words.
CREATE OR REPLACE FUNCTION _pgrecall.jobs_of_curation()
RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE
RETURN jsonb_build_object('curation', jsonb_build_object(
    'oldest_first', true,
    'ready', '(o.%1$I IS NOT NULL '
        'OR NOT EXISTS (SELECT FROM pgrecall.generations g WHERE g.id = $1 AND g.model_id IS NOT NULL) '
        'OR EXISTS (SELECT FROM pgrecall.jobs f WHERE f.memory_id = o.id AND f.kind = ''embedding'' AND f.generation_id = $1 '
        'AND f.failed_at IS NOT NULL))'
));
