-- Returns the columns of embeddings of every generation, each as null: what jsonb_populate_record() clears them with, in a memory or
-- a concept.
CREATE OR REPLACE FUNCTION _pgrecall.no_embeddings()
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
BEGIN
    RETURN (SELECT jsonb_object_agg(g.column_name, NULL) FROM pgrecall.generations g);
END
$function$;
