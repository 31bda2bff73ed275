-- Recreates embedding_of() and name_embedding_of() with one branch per generation.
--
-- If the generation is a constant, the planner reduces a call to the column, so it can use the index. The two functions are
-- state, like the columns they name: revisions and changes of generations create them, an installation does not.
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
END
$function$;

COMMENT ON FUNCTION _pgrecall.rebuild_embedding_accessors IS
    'Recreates embedding_of() and name_embedding_of() with one branch per generation.';
