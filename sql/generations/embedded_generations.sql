-- What embedders are to work on: the active generation first, then the one that is being built.
--
-- One that is being built is not among them before the statements of generation_statements(…, 'fill') have run: to find
-- what is missing without an index would mean to read the whole table again and again.
CREATE OR REPLACE FUNCTION pgrecall.embedded_generations()
RETURNS TABLE (
    generation integer, state text, model_id integer, model text, dimension integer, provider text,
    document_prompt text, query_prompt text
)
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 2
SET search_path FROM CURRENT
BEGIN ATOMIC
    SELECT g.id, g.state, m.id, m.name, g.dimension, m.provider, m.document_prompt, m.query_prompt
    FROM pgrecall.generations g
    JOIN pgrecall.embedding_models m ON m.id = g.model_id
    WHERE g.state = 'active'
       OR (g.state = 'building' AND NOT EXISTS (SELECT FROM pgrecall.generation_statements(g.id, 'fill')))
    ORDER BY g.state;
END;

COMMENT ON FUNCTION pgrecall.embedded_generations IS
    'The generations that embedders work on with their models: the active one first, then the one that is being built.';

ALTER FUNCTION pgrecall.embedded_generations OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.embedded_generations TO pgrecall_embedder;
