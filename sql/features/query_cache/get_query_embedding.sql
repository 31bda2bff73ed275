-- Returns the answer to a request of this role (request_query_embedding); no row until it is answered.
CREATE OR REPLACE FUNCTION pgrecall.get_query_embedding(id bigint)
RETURNS TABLE (embedding pgvector.halfvec, error text)
-- Restricted: a parallel worker does not see SET ROLE in the setting.
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 1
SET search_path FROM CURRENT
AS $function$
#variable_conflict use_column
BEGIN
    RETURN QUERY
        SELECT q.embedding, q.error FROM pgrecall.query_embeddings q
        WHERE q.id = get_query_embedding.id AND q.role = pgrecall.session_role() AND q.answered_at IS NOT NULL;
END
$function$;

ALTER FUNCTION pgrecall.get_query_embedding OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.get_query_embedding TO pgrecall_reader;
