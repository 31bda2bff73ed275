-- Returns the generation of embeddings that recall reads by default.
CREATE OR REPLACE FUNCTION pgrecall.active_generation()
RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE
RETURN (SELECT g.id FROM pgrecall.generations g WHERE g.state = 'active');

GRANT EXECUTE ON FUNCTION pgrecall.active_generation TO pgrecall_reader, pgrecall_embedder;
