-- Deletes cached query embeddings that have not been used for long, and the oldest beyond a limit. Returns how many.
--
-- Each role keeps the same number of its newest ones, so that one role's many queries do not evict another's few. The
-- settings query_cache_age and query_cache_size give both limits. purge_expansions() does the same for expansions. What another
-- transaction holds is left for the next run.
CREATE OR REPLACE FUNCTION pgrecall.purge_query_embeddings()
RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    gone bigint;
BEGIN
    DELETE FROM pgrecall.query_embeddings q
    WHERE q.id IN (
        SELECT u.id FROM pgrecall.query_embeddings u
        WHERE NOT _pgrecall.is_recent(u.used_at, pgrecall.stored_setting('query_cache_age')::interval)
           OR u.id IN (
                SELECT o.id
                FROM (
                    SELECT k.id, k.used_at, row_number() OVER (PARTITION BY k.role ORDER BY k.used_at DESC) AS place
                    FROM pgrecall.query_embeddings k
                ) o
                ORDER BY o.place, o.used_at DESC
                OFFSET pgrecall.stored_setting('query_cache_size')::integer
           )
        FOR UPDATE SKIP LOCKED
    );
    GET DIAGNOSTICS gone = ROW_COUNT;
    RETURN gone + _pgrecall.purge_expansions();
END
$function$;

ALTER FUNCTION pgrecall.purge_query_embeddings OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.purge_query_embeddings TO pgrecall_embedder;
