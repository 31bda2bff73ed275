-- The generation whose embeddings a query's vector is compared with.
--
-- Without a name it is the active one, or the one before while it is there, if only that has the vector's dimension: who
-- still embeds with the model before a switch is answered.
--
-- model  the name of the model that made the vector; NULL: not known
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

COMMENT ON FUNCTION _pgrecall.query_generation IS 'The generation whose embeddings a query''s vector is compared with.';
