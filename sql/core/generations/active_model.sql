-- Returns the model of the active generation, with its prompts; no row if none is chosen.
CREATE OR REPLACE FUNCTION pgrecall.active_model()
RETURNS TABLE (id integer, name text, dimension integer, provider text, query_prompt text, document_prompt text)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 1
BEGIN ATOMIC
    SELECT m.id, m.name, m.dimension, m.provider, m.query_prompt, m.document_prompt
    FROM pgrecall.generations g
    JOIN pgrecall.embedding_models m ON m.id = g.model_id
    WHERE g.state = 'active';
END;

GRANT EXECUTE ON FUNCTION pgrecall.active_model TO pgrecall_reader, pgrecall_embedder;
