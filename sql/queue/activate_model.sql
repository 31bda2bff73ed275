-- Registers an embedding model and makes it the one in use.
--
-- query_prompt, document_prompt  texts put before a query and before a memory; a new call replaces them
--
-- Errors  22023 its dimension is not the column's;  55000 there are embeddings of another model
CREATE OR REPLACE FUNCTION pgrecall.activate_model(
    name text, dimension integer, query_prompt text DEFAULT '', document_prompt text DEFAULT '',
    provider text DEFAULT 'sentence-transformers'
)
RETURNS integer
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    model_id integer;
BEGIN
    IF activate_model.dimension <> pgrecall.embedding_dimension() THEN
        RAISE EXCEPTION 'model % has % dimensions, memories.embedding has %',
                activate_model.name, activate_model.dimension, pgrecall.embedding_dimension()
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Choose a model that fits; the dimension is fixed when a database is first migrated.';
    END IF;
    INSERT INTO pgrecall.embedding_models AS m (name, dimension, provider, query_prompt, document_prompt)
    VALUES (activate_model.name, activate_model.dimension, activate_model.provider,
            activate_model.query_prompt, activate_model.document_prompt)
    ON CONFLICT ON CONSTRAINT embedding_models_name_key DO UPDATE
        SET query_prompt = excluded.query_prompt, document_prompt = excluded.document_prompt, provider = excluded.provider
    RETURNING m.id INTO model_id;
    IF EXISTS (SELECT FROM pgrecall.memories m WHERE m.embedding IS NOT NULL AND m.embedding_model_id <> model_id) THEN
        RAISE EXCEPTION 'there are embeddings of another model than %', activate_model.name
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = 'Vectors of two models cannot be compared. Use a new database, or empty the embeddings first.';
    END IF;
    INSERT INTO pgrecall.settings AS s (name, value) VALUES ('embedding_model', activate_model.name)
    ON CONFLICT ON CONSTRAINT settings_pkey DO UPDATE SET value = excluded.value, updated_at = now();
    RETURN model_id;
END
$function$;

COMMENT ON FUNCTION pgrecall.activate_model IS 'Registers an embedding model and makes it the one in use.';
