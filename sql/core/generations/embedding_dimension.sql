-- Returns the dimension of the active generation.
CREATE OR REPLACE FUNCTION pgrecall.embedding_dimension()
RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE
RETURN (SELECT g.dimension FROM pgrecall.generations g WHERE g.state = 'active');

GRANT EXECUTE ON FUNCTION pgrecall.embedding_dimension TO pgrecall_reader, pgrecall_embedder;
