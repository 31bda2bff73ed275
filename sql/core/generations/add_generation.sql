-- Adds a generation: an empty column of embeddings with the same constraints as the active one. Returns its number.
--
-- A second call with the same model returns the generation that is being built. Takes a short exclusive lock on memories
-- and concepts: set lock_timeout, so that other sessions do not queue behind it, and retry. Daemons start once the
-- statements of generation_statements(…, 'fill') have run.
--
-- Errors  55000 another generation is being built or retired, or the active one has that model;  22023 dimension out of range
CREATE OR REPLACE FUNCTION pgrecall.add_generation(
    model text, dimension integer, provider text DEFAULT 'sentence-transformers',
    query_prompt text DEFAULT '', document_prompt text DEFAULT ''
)
RETURNS integer
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    other record;
    made pgrecall.generations;
    widths integer;
BEGIN
    IF add_generation.dimension IS NULL OR add_generation.dimension NOT BETWEEN 1 AND 4000 THEN
        RAISE EXCEPTION 'the dimension must be between 1 and 4000, not %', COALESCE(add_generation.dimension::text, 'NULL')
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass the model''s dimension, or one to which its vectors can be truncated.';
    END IF;
    LOCK TABLE pgrecall.generations IN SHARE ROW EXCLUSIVE MODE;
    SELECT g.id, g.state, g.dimension, m.name INTO other
    FROM pgrecall.generations g
    LEFT JOIN pgrecall.embedding_models m ON m.id = g.model_id
    WHERE g.state <> 'active';
    IF other.state = 'building' AND other.name = add_generation.model AND other.dimension = add_generation.dimension THEN
        RETURN other.id;
    ELSIF other.id IS NOT NULL THEN
        RAISE EXCEPTION 'generation % (model %, %) is still there', other.id, COALESCE(other.name, 'none'), other.state
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = CASE other.state WHEN 'building' THEN 'Finish it, or cancel it: pgrecall reembed --cancel.'
                                          ELSE 'Drop it first: pgrecall reembed --drop-old.' END;
    ELSIF EXISTS (
        SELECT FROM pgrecall.active_model() a
        WHERE a.name = add_generation.model AND a.dimension = add_generation.dimension
    ) THEN
        RAISE EXCEPTION 'recall reads the embeddings of model % already', left(add_generation.model, 80)
            USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Pass another dimension to add a generation of the same model.';
    END IF;

    INSERT INTO pgrecall.generations AS g (id, model_id, dimension, state)
    -- Numbers are never reused: a daemon may still hold vectors for a canceled generation.
    SELECT nextval('pgrecall.generation_numbers'),
           pgrecall.register_model(
               add_generation.model, add_generation.dimension, add_generation.provider, add_generation.query_prompt,
               add_generation.document_prompt
           ),
           add_generation.dimension, 'building'
    RETURNING g.* INTO made;
    SELECT sum(g.dimension)::integer INTO widths FROM pgrecall.generations g WHERE g.dimension <= 2000;
    EXECUTE format(
        'ALTER TABLE pgrecall.memories ADD COLUMN %1$I pgvector.halfvec(%2$s), ALTER COLUMN %1$I SET STORAGE %3$s, '
        'ADD CONSTRAINT %4$I CHECK (NOT is_sensitive OR %1$I IS NULL) NOT VALID, SET (toast_tuple_target = %5$s)',
        -- As in the first revision: stored inline while the row fits on a page.
        made.column_name, made.dimension, CASE WHEN made.dimension <= 2000 AND widths <= 3500 THEN 'PLAIN' ELSE 'EXTERNAL' END,
        'memories_sensitive_not_' || made.column_name, least(8160, 2048 + 2 * COALESCE(widths, 0))
    );
    EXECUTE format('ALTER TABLE pgrecall.concepts ADD COLUMN %I pgvector.halfvec(%s)', made.column_name, made.dimension);
    EXECUTE format(
        'COMMENT ON COLUMN pgrecall.memories.%I IS %L', made.column_name,
        format('Of generation %s: NULL until an embedder fills it; NULL again when the embedded text changes.', made.id)
    );
    PERFORM _pgrecall.rebuild_embedding_accessors();
    RETURN made.id;
END
$function$;
