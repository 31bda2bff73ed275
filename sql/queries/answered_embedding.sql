-- The answer to a question put with ask_embedding(); no row as long as there is none.
CREATE OR REPLACE FUNCTION pgrecall.answered_embedding(id bigint)
RETURNS TABLE (embedding pgvector.halfvec, error text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 1
SET search_path FROM CURRENT
AS $function$
#variable_conflict use_column
BEGIN
    RETURN QUERY
        SELECT q.embedding, q.error FROM pgrecall.query_embeddings q
        WHERE q.id = answered_embedding.id AND q.answered_at IS NOT NULL;
END
$function$;

COMMENT ON FUNCTION pgrecall.answered_embedding IS 'The answer to a question put with ask_embedding(); no row as long as there is none.';

ALTER FUNCTION pgrecall.answered_embedding OWNER TO pgrecall_gate;
