-- Returns the generation to compare a query vector with.
--
-- Without a model, that is the active generation, or the retired one if only its dimension matches. A client that still
-- embeds with the old model after a switch therefore gets results.
--
-- model  the name of the vector's model; NULL: unknown
--
-- Errors  22023 no generation of that dimension;  55000 no generation of that model
CREATE OR REPLACE FUNCTION _pgrecall.query_generation(query_vec pgvector.halfvec, model text)
RETURNS integer
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    chosen integer;
    active record;
BEGIN
    IF query_vec IS NULL THEN
        RETURN pgrecall.active_generation();
    END IF;
    SELECT g.id INTO chosen
    FROM pgrecall.generations g
    LEFT JOIN pgrecall.embedding_models m ON m.id = g.model_id
    WHERE g.dimension = pgvector.vector_dims(query_vec)
      AND CASE WHEN model IS NULL THEN g.state <> 'building' ELSE m.name = model END
    ORDER BY g.state = 'active' DESC
    LIMIT 1;
    IF FOUND THEN
        RETURN chosen;
    END IF;

    SELECT g.dimension, m.name INTO active
    FROM pgrecall.generations g
    LEFT JOIN pgrecall.embedding_models m ON m.id = g.model_id
    WHERE g.state = 'active' OR m.name = model
    ORDER BY m.name = model DESC NULLS LAST, g.state = 'active' DESC
    LIMIT 1;
    IF model IS NOT NULL AND model IS DISTINCT FROM active.name THEN
        RAISE EXCEPTION 'the query was embedded with model %, the memories with %', left(model, 200), COALESCE(active.name, 'none')
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = 'Embed the query with the model that recall_status() names.';
    END IF;
    RAISE EXCEPTION 'the query vector has % dimensions, the memories'' embeddings have %', pgvector.vector_dims(query_vec), active.dimension
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Embed the query with the model that recall_status() names.';
END
$function$;
