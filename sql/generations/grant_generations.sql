-- Gives the embedder's role the columns of embeddings there are, to read whether they are filled: complete_claimed() fills them.
CREATE OR REPLACE FUNCTION pgrecall.grant_generations()
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    names text := (SELECT string_agg(format('%I', g.column_name), ', ' ORDER BY g.id) FROM pgrecall.generations g);
BEGIN
    EXECUTE format('GRANT SELECT (%s) ON pgrecall.memories TO pgrecall_embedder', names);
END
$function$;

COMMENT ON FUNCTION pgrecall.grant_generations IS 'Gives the embedder''s role the columns of embeddings there are.';
