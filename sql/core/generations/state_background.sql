-- Stores what cosines between unrelated texts look like with a model, as an embedder measured it on texts of its own.
--
-- Recall measures cosines against it in namespaces with too few embeddings for a background of their own. It comes from texts
-- that are shipped with the embedder, so it tells nothing about any namespace. The first statement stays: an embedder of
-- another version does not change scores.
--
-- embeddings  of the texts, each as '[0.1,…]'
--
-- Returns whether it was stored.
--
-- Errors  22023 fewer than 20 embeddings, no vector, another dimension than the model's, or all alike;  42704 no such model
CREATE OR REPLACE FUNCTION pgrecall.state_background(model_id integer, embeddings text[])
RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
SET debug_print_plan = off
AS $function$
DECLARE
    min_sample CONSTANT integer := 20;
    max_sample CONSTANT integer := 1000;
    model pgrecall.embedding_models;
    found record;
BEGIN
    SELECT m.* INTO model FROM pgrecall.embedding_models m WHERE m.id = state_background.model_id FOR UPDATE;
    IF model.id IS NULL THEN
        RAISE EXCEPTION 'there is no embedding model %', COALESCE(state_background.model_id::text, 'NULL')
            USING ERRCODE = 'undefined_object', HINT = 'pgrecall.active_model() returns the id of the model in use.';
    ELSIF model.background_mean IS NOT NULL THEN
        RETURN false;
    END IF;
    PERFORM _pgrecall.check_vectors(embeddings);
    IF COALESCE(cardinality(embeddings), 0) NOT BETWEEN min_sample AND max_sample
          OR EXISTS (SELECT FROM unnest(embeddings) e (embedding)
                    WHERE pgvector.vector_dims(e.embedding::pgvector.halfvec) IS DISTINCT FROM model.dimension)
    THEN
        RAISE EXCEPTION 'a background needs % to % embeddings of % dimensions', min_sample, max_sample, model.dimension
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass the embeddings of unrelated texts, by this model.';
    END IF;
    SELECT b.mean, b.deviation INTO found FROM _pgrecall.measure_background(embeddings::pgvector.halfvec[]) b;
    IF found.deviation > 0 THEN
        UPDATE pgrecall.embedding_models m
        SET background_mean = found.mean, background_deviation = least(found.deviation, 1)
        WHERE m.id = model.id;
        RETURN true;
    END IF;
    RAISE EXCEPTION 'the embeddings are all alike'
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass the embeddings of unrelated texts, by this model.';
END
$function$;

ALTER FUNCTION pgrecall.state_background OWNER TO pgrecall_engine;

REVOKE ALL ON FUNCTION pgrecall.state_background FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder;
GRANT EXECUTE ON FUNCTION pgrecall.state_background TO pgrecall_embedder;
