-- Notes an embedding model with its prompts, or brings what is noted up to date; returns its id.
CREATE OR REPLACE FUNCTION pgrecall.register_model(
    name text, dimension integer, provider text, query_prompt text, document_prompt text
)
RETURNS integer
LANGUAGE sql VOLATILE
BEGIN ATOMIC
    INSERT INTO pgrecall.embedding_models AS m (name, dimension, provider, query_prompt, document_prompt)
    VALUES (register_model.name, register_model.dimension, register_model.provider,
            register_model.query_prompt, register_model.document_prompt)
    ON CONFLICT ON CONSTRAINT embedding_models_name_dimension_key DO UPDATE
        SET query_prompt = excluded.query_prompt, document_prompt = excluded.document_prompt, provider = excluded.provider
    RETURNING m.id;
END;

COMMENT ON FUNCTION pgrecall.register_model IS 'Notes an embedding model with its prompts; returns its id.';
