-- The dimension of memories.embedding, fixed when the database was first migrated.
CREATE OR REPLACE FUNCTION pgrecall.embedding_dimension()
RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE
RETURN (
    SELECT a.atttypmod FROM pg_attribute a
    WHERE a.attrelid = 'pgrecall.memories'::regclass AND a.attname = 'embedding'
);

COMMENT ON FUNCTION pgrecall.embedding_dimension IS 'The dimension of memories.embedding.';
