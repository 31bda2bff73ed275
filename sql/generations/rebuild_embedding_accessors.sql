-- Recreates embedding_of(), name_embedding_of() and nearest_embeddings() with one branch per generation.
--
-- If the generation is a constant, the planner reduces a call of the first two to the column, so it can use the index.
-- nearest_embeddings() keeps one plan per session and generation, so recall plans no search of the index.
--
-- The functions are state, like the columns they name. Changes of generations call this function, and every installation.
CREATE OR REPLACE FUNCTION _pgrecall.rebuild_embedding_accessors()
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    target record;
    branches text;
BEGIN
    FOR target IN
        SELECT * FROM (VALUES ('embedding_of', 'memory', 'memories'), ('name_embedding_of', 'concept', 'concepts'))
            t (name, argument, type)
    LOOP
        SELECT string_agg(format('WHEN %s THEN (%I).%I', g.id, target.argument, g.column_name), ' ' ORDER BY g.id) INTO branches
        FROM pgrecall.generations g;
        EXECUTE format(
            'CREATE OR REPLACE FUNCTION _pgrecall.%I(%I pgrecall.%I, generation integer) RETURNS pgvector.halfvec '
            'LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE generation %s END',
            target.name, target.argument, target.type, branches
        );
    END LOOP;

    SELECT string_agg(
        format(
            'WHEN %s THEN RETURN QUERY '
            'SELECT m.id, m.%2$I OPERATOR(pgvector.<=>) query_vec FROM pgrecall.memories m '
            'WHERE m.namespace_id = nearest_embeddings.namespace_id AND m.deleted_at IS NULL AND m.superseded_by IS NULL '
            'AND m.%2$I IS NOT NULL '
            'ORDER BY m.%2$I OPERATOR(pgvector.<=>) query_vec LIMIT depth; ',
            g.id, g.column_name
        ), '' ORDER BY g.id
    )
    INTO branches
    FROM pgrecall.generations g;
    -- Without the setting, a generic plan would sort a namespace of average size.
    EXECUTE format(
        'CREATE OR REPLACE FUNCTION _pgrecall.%I('
        'namespace_id integer, query_vec pgvector.halfvec, depth integer, generation integer) '
        'RETURNS TABLE (id bigint, distance double precision) '
        'LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 50 SET search_path FROM CURRENT SET enable_sort = off '
        'SET plan_cache_mode = force_generic_plan AS %L',
        'nearest_embeddings',
        format('#variable_conflict use_column' || E'\n' || 'BEGIN CASE generation %s ELSE NULL; END CASE; END', branches)
    );
END
$function$;

COMMENT ON FUNCTION _pgrecall.rebuild_embedding_accessors IS
    'Recreates embedding_of(), name_embedding_of() and nearest_embeddings() with one branch per generation.';
