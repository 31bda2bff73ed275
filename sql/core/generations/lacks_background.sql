-- Returns whether no embedder has stated the background of a model (state_background).
CREATE OR REPLACE FUNCTION pgrecall.lacks_background(model_id integer)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER
SET search_path FROM CURRENT
SET debug_print_plan = off
RETURN EXISTS (
    SELECT FROM pgrecall.embedding_models m WHERE m.id = lacks_background.model_id AND m.background_mean IS NULL
);

ALTER FUNCTION pgrecall.lacks_background OWNER TO pgrecall_engine;

REVOKE ALL ON FUNCTION pgrecall.lacks_background FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder;
GRANT EXECUTE ON FUNCTION pgrecall.lacks_background TO pgrecall_embedder;
