-- The dimension of the embeddings that recall reads.
CREATE OR REPLACE FUNCTION pgrecall.embedding_dimension()
RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE
RETURN (SELECT g.dimension FROM pgrecall.generations g WHERE g.state = 'active');

COMMENT ON FUNCTION pgrecall.embedding_dimension IS 'The dimension of the embeddings that recall reads.';

GRANT EXECUTE ON FUNCTION pgrecall.embedding_dimension TO pgrecall_reader, pgrecall_embedder;
