-- Recreates the functions that read embeddings, with one branch per generation.
--
-- embedding_of(), name_embedding_of(): if the generation is a constant, the planner reduces a call to the column, so it can use
-- the index. nearest_embeddings(), nearest_shared_embeddings(), scan_embeddings(): they search a namespace, with the HNSW index,
-- among a fixed number of its entries, and exactly. Each keeps one plan per session
-- and generation, so a recall without filters plans no search.
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

    -- Without the settings, a generic plan would read a namespace of average size in another way.
    FOR target IN
        SELECT * FROM (VALUES
            ('nearest_embeddings', '', 'enable_sort = off'),
            -- Adding zero keeps the planner from using the HNSW index.
            ('scan_embeddings', ' + 0, m.id', 'enable_seqscan = off SET enable_bitmapscan = off')
        ) t (name, ordering, setting)
    LOOP
        SELECT string_agg(
            format(
                'WHEN %s THEN RETURN QUERY '
                'SELECT m.id, m.%2$I OPERATOR(pgvector.<=>) query_vec FROM pgrecall.memories m '
                'WHERE m.namespace_id = %3$I.namespace_id AND m.deleted_at IS NULL AND m.superseded_by IS NULL '
                'AND m.%2$I IS NOT NULL AND (m.valid_to IS NULL OR m.valid_to > now()) '
                'AND (m.expires_at IS NULL OR m.expires_at > now()) '
                'ORDER BY (m.%2$I OPERATOR(pgvector.<=>) query_vec)%4$s LIMIT depth; ',
                g.id, g.column_name, target.name, target.ordering
            ), '' ORDER BY g.id
        )
        INTO branches
        FROM pgrecall.generations g;
        EXECUTE format(
            'CREATE OR REPLACE FUNCTION _pgrecall.%I('
            'namespace_id integer, query_vec pgvector.halfvec, depth integer, generation integer) '
            'RETURNS TABLE (id bigint, distance double precision) '
            'LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 50 SET search_path FROM CURRENT '
            'SET plan_cache_mode = force_generic_plan SET %s AS %L',
            target.name, target.setting,
            format('#variable_conflict use_column' || E'\n' || 'BEGIN CASE generation %s ELSE NULL; END CASE; END', branches)
        );
    END LOOP;

    -- Adding zero makes it read all visits: rows in the order of the index would end the scan when there are enough.
    SELECT string_agg(
        format(
            'WHEN %s THEN RETURN QUERY '
            'SELECT w.id, w.distance FROM ('
            'SELECT m.id, m.namespace_id, m.superseded_by, m.valid_to, m.expires_at, m.%2$I OPERATOR(pgvector.<=>) query_vec AS distance '
            'FROM pgrecall.memories m WHERE m.deleted_at IS NULL AND m.%2$I IS NOT NULL '
            'ORDER BY m.%2$I OPERATOR(pgvector.<=>) query_vec LIMIT visits) w '
            'WHERE w.namespace_id = nearest_shared_embeddings.namespace_id AND w.superseded_by IS NULL '
            'AND (w.valid_to IS NULL OR w.valid_to > now()) AND (w.expires_at IS NULL OR w.expires_at > now()) '
            'ORDER BY w.distance + 0, w.id LIMIT depth; ',
            g.id, g.column_name
        ), '' ORDER BY g.id
    )
    INTO branches
    FROM pgrecall.generations g;
    EXECUTE format(
        'CREATE OR REPLACE FUNCTION _pgrecall.%I('
        'namespace_id integer, query_vec pgvector.halfvec, depth integer, generation integer, visits integer) '
        'RETURNS TABLE (id bigint, distance double precision) '
        'LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 50 SET search_path FROM CURRENT '
        'SET plan_cache_mode = force_generic_plan SET enable_sort = off AS %L',
        'nearest_shared_embeddings',
        format('#variable_conflict use_column' || E'\n' || 'BEGIN CASE generation %s ELSE NULL; END CASE; END', branches)
    );
END
$function$;

COMMENT ON FUNCTION _pgrecall.rebuild_embedding_accessors IS
    'Recreates the functions that read embeddings, with one branch per generation.';
