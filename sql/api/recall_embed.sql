-- recall_embed: the embedding of a query, for recall(query, recall_embed(query)); NULL, and a notice, where there is none.
--
-- With `pgrecall migrate --with-plpython` it is asked of the embedder, whose socket the setting embed_socket names, for
-- embed_timeout milliseconds at the most. Without, only what is kept is returned: what was asked for before with
-- pgrecall.request_query_embedding(). It writes nothing either way, so it runs on a standby. NULL to recall() means without the
-- dense leg.
--
-- query  as recall() gets it; NULL or blank: NULL
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
        RAISE NOTICE 'the query has no embedding: nobody asked for it before'
            USING HINT = 'Ask with pgrecall.request_query_embedding(query) first, or install what asks: pgrecall migrate --with-plpython.';
    END IF;
    RETURN found;
END
$function$;

COMMENT ON FUNCTION public.recall_embed IS
    'The embedding of a query, for recall(query, recall_embed(query)); NULL where there is none in time.';

REVOKE ALL ON FUNCTION public.recall_embed FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder;
GRANT EXECUTE ON FUNCTION public.recall_embed TO pgrecall_reader;
