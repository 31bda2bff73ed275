-- Inserts or updates an embedding model with its prompts. Returns its id.
--
-- Errors  22023 an argument is NULL, empty or too long
CREATE OR REPLACE FUNCTION pgrecall.register_model(
    name text, dimension integer, provider text, query_prompt text, document_prompt text
)
RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
SET debug_print_plan = off
AS $function$
DECLARE
    registered integer;
    broken text;
BEGIN
    INSERT INTO pgrecall.embedding_models AS m (name, dimension, provider, query_prompt, document_prompt)
    VALUES (register_model.name, register_model.dimension, register_model.provider,
            register_model.query_prompt, register_model.document_prompt)
    ON CONFLICT ON CONSTRAINT embedding_models_name_dimension_key DO UPDATE
        SET query_prompt = excluded.query_prompt, document_prompt = excluded.document_prompt, provider = excluded.provider
    RETURNING m.id INTO registered;
    RETURN registered;
EXCEPTION WHEN not_null_violation OR check_violation THEN
    -- The message of the table's CHECK would print the row.
    GET STACKED DIAGNOSTICS broken = CONSTRAINT_NAME;
    RAISE EXCEPTION 'an embedding model needs a name, 1 to 4000 dimensions, a provider and two prompts, none too long%',
            COALESCE(': ' || NULLIF(broken, ''), '')
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass an empty text for a prompt that the model does not have.';
END
$function$;

ALTER FUNCTION pgrecall.register_model OWNER TO pgrecall_engine;
