-- Returns the value of each learnable setting without learned ones, as JSON.
CREATE OR REPLACE FUNCTION _pgrecall.base_settings()
RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE
RETURN (
    SELECT jsonb_object_agg(r.name, r.value)
    FROM pgrecall.resolved_settings(NULL) r JOIN pgrecall.learnable_settings l ON l.name = r.name
);
