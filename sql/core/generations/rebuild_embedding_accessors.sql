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
            ('nearest_shared_embeddings', ', visits integer', 'enable_sort = off'),
            ('scan_embeddings', '', 'enable_seqscan = off SET enable_bitmapscan = off')
        ) t (name, arguments, setting)
    LOOP
        SELECT string_agg(
            format('WHEN %s THEN RETURN QUERY %s; ', g.id, _pgrecall.search_statement(target.name, g.column_name)), '' ORDER BY g.id
        )
        INTO branches
        FROM pgrecall.generations g;
        EXECUTE format(
            'CREATE OR REPLACE FUNCTION _pgrecall.%I('
            'namespace_id integer, query_vec pgvector.halfvec, depth integer, generation integer%s) '
            'RETURNS TABLE (id bigint, distance double precision) '
            'LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 50 SET search_path FROM CURRENT '
            'SET plan_cache_mode = force_generic_plan SET %s AS %L',
            target.name, target.arguments, target.setting,
            format('BEGIN CASE generation %s ELSE NULL; END CASE; END', branches)
        );
    END LOOP;
END
$function$;
