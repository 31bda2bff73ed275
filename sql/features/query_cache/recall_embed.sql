-- Returns the embedding of a query, for recall(query, recall_embed(query)); NULL if none is available in time.
--
-- NULL and a notice if none is available.
--
-- With `pgrecall migrate --with-plpython` it asks the embedder at the socket named by the setting embed_socket, and
-- waits at most embed_timeout milliseconds. Otherwise it returns only cached embeddings, requested earlier with
-- pgrecall.request_query_embedding(). It never writes, so it runs on a standby. With NULL, recall() skips the dense
-- leg.
--
-- query  as for recall(); NULL or blank: NULL
--
-- Errors  54000 a query too long
CREATE OR REPLACE FUNCTION public.recall_embed(query text)
RETURNS pgvector.halfvec
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path FROM CURRENT
AS $function$
DECLARE
    found pgvector.halfvec;
BEGIN
    IF COALESCE(query, '') !~ '[^[:space:]]' THEN
        RETURN NULL;
    ELSIF length(query) > 16384 THEN
        RAISE EXCEPTION 'the query has % characters; 16384 is the limit', length(query)
            USING ERRCODE = 'program_limit_exceeded', HINT = 'Recall by the question, not by a whole document.';
    END IF;
    found := pgrecall.cached_query_embedding(query);
    IF found IS NULL THEN
        RAISE NOTICE 'the query has no cached embedding'
            USING HINT = 'Call pgrecall.request_query_embedding(query) first, or run pgrecall migrate --with-plpython.';
    END IF;
    RETURN found;
END
$function$;

REVOKE ALL ON FUNCTION public.recall_embed FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder;
GRANT EXECUTE ON FUNCTION public.recall_embed TO pgrecall_reader;
