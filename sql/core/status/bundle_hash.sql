-- Returns the hash of the installed sql/ bundle, for information; contract() tells which clients fit.
CREATE OR REPLACE FUNCTION pgrecall.bundle_hash()
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN (SELECT i.bundle_hash FROM pgrecall.installation i);

GRANT EXECUTE ON FUNCTION pgrecall.bundle_hash TO pgrecall_reader, pgrecall_embedder;
