-- The hash of the sql/ bundle that is installed; clients and daemons compare it with their own.
CREATE OR REPLACE FUNCTION pgrecall.bundle_hash()
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN (SELECT i.bundle_hash FROM pgrecall.installation i);

COMMENT ON FUNCTION pgrecall.bundle_hash IS 'The hash of the sql/ bundle that is installed.';

GRANT EXECUTE ON FUNCTION pgrecall.bundle_hash TO pgrecall_reader, pgrecall_embedder;
