-- Lists concepts whose names have no embedding, if a language model may be asked about names: nothing else needs them.
--
-- EXECUTE plans with a constant generation, so that name_embedding_of() folds to its column and the index is used.
--
-- batch  maximum number of rows
CREATE OR REPLACE FUNCTION pgrecall.unembedded_concepts(batch integer DEFAULT 100)
RETURNS TABLE (id bigint, name text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 100
SET search_path FROM CURRENT
AS $function$
DECLARE
    generation integer := pgrecall.active_generation();
BEGIN
    IF NOT _pgrecall.asks_about_names() THEN
        RETURN;
    END IF;
    RETURN QUERY EXECUTE $statement$
        SELECT c.id, c.name FROM pgrecall.concepts c WHERE _pgrecall.name_embedding_of(c, $1) IS NULL ORDER BY c.id LIMIT $2
    $statement$
    USING generation, batch;
END
$function$;

ALTER FUNCTION pgrecall.unembedded_concepts OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.unembedded_concepts TO pgrecall_embedder;
