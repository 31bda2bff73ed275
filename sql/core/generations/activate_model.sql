-- Registers an embedding model and assigns it to the active generation, unless that has embeddings of another model.
--
-- Daemons that are embedding with another model begin again with this one.
--
-- query_prompt, document_prompt  texts prepended to a query and to a memory
--
-- Errors  22023 its dimension is not the generation's;  55000 there are embeddings of another model, or with another
--         document_prompt
CREATE OR REPLACE FUNCTION pgrecall.activate_model(
    name text, dimension integer, query_prompt text DEFAULT '', document_prompt text DEFAULT '',
    provider text DEFAULT 'sentence-transformers'
)
RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
SET debug_print_plan = off
AS $function$
DECLARE
    before record;
    registered integer;
BEGIN
    SELECT g.id, g.dimension, m.id AS model_id, m.document_prompt INTO before
    FROM pgrecall.generations g
    LEFT JOIN pgrecall.embedding_models m ON m.id = g.model_id
    WHERE g.state = 'active'
    FOR NO KEY UPDATE OF g;
    IF activate_model.dimension <> before.dimension THEN
        RAISE EXCEPTION 'model % has % dimensions, the memories'' embeddings have %',
                left(activate_model.name, 80), activate_model.dimension, before.dimension
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Choose a model that fits, or change to this one with pgrecall reembed --model NAME.';
    END IF;
    registered := pgrecall.register_model(
        activate_model.name, activate_model.dimension, activate_model.provider, activate_model.query_prompt,
        activate_model.document_prompt
    );
    IF registered IS DISTINCT FROM before.model_id OR activate_model.document_prompt IS DISTINCT FROM before.document_prompt THEN
        -- Whoever stores embeddings has ended, or finds its ticket void: no vector of the former model comes later.
        LOCK TABLE pgrecall.jobs IN SHARE ROW EXCLUSIVE MODE;
        IF EXISTS (SELECT FROM pgrecall.memories m WHERE _pgrecall.embedding_of(m, before.id) IS NOT NULL) THEN
            RAISE EXCEPTION 'there are embeddings of another model than %', left(activate_model.name, 80)
                USING ERRCODE = 'object_not_in_prerequisite_state',
                      HINT = 'Vectors of two models cannot be compared. Change the model with pgrecall reembed --model NAME.';
        END IF;
        DELETE FROM pgrecall.jobs j
        WHERE j.kind = 'embedding' AND j.generation_id = before.id AND before.model_id IS NOT NULL;
    END IF;
    UPDATE pgrecall.generations g SET model_id = registered WHERE g.id = before.id;
    RETURN registered;
END
$function$;

ALTER FUNCTION pgrecall.activate_model OWNER TO pgrecall_engine;
