-- Lists the generations that daemons embed, with their models: the active one first, then the one being built.
--
-- Leaves out a generation until the statements of generation_statements(…, 'fill') have run: without their index, every
-- claim would read the whole table.
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

ALTER FUNCTION pgrecall.embedded_generations OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.embedded_generations TO pgrecall_embedder;
