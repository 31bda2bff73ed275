-- Returns this role's cached embedding of a query (request_query_embedding) by the active model; NULL if there is none.
--
-- A standby has none: the table is unlogged.
CREATE OR REPLACE FUNCTION pgrecall.cached_query_embedding(query text)
RETURNS pgvector.halfvec
-- Restricted: a parallel worker does not see SET ROLE in the setting.
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
BEGIN
    IF pg_is_in_recovery() THEN
        RETURN NULL;
    END IF;
    RETURN (
        SELECT q.embedding FROM pgrecall.query_embeddings q
        WHERE q.generation_id = pgrecall.active_generation() AND q.role = pgrecall.session_role()
          AND q.query_hash = sha256(convert_to(cached_query_embedding.query, 'UTF8'))
    );
END
$function$;

ALTER FUNCTION pgrecall.cached_query_embedding OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.cached_query_embedding TO pgrecall_reader;
