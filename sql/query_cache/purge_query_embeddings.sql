-- Forgets embeddings of queries that have not been asked for long, and the oldest beyond a number; returns how many.
--
-- Each role keeps its newest, the same number of each, so that nobody's many questions push out another's few.
-- By the settings query_cache_age and query_cache_size. Expansions of queries go likewise (purge_expansions).
CREATE OR REPLACE FUNCTION pgrecall.purge_query_embeddings()
RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    gone bigint;
BEGIN
    DELETE FROM pgrecall.query_embeddings q
    WHERE q.used_at < clock_timestamp() - pgrecall.stored_setting('query_cache_age')::interval
       OR q.id IN (
            SELECT o.id
            FROM (
                SELECT k.id, k.used_at, row_number() OVER (PARTITION BY k.role ORDER BY k.used_at DESC) AS place
                FROM pgrecall.query_embeddings k
            ) o
            ORDER BY o.place, o.used_at DESC
            OFFSET pgrecall.stored_setting('query_cache_size')::integer
       );
    GET DIAGNOSTICS gone = ROW_COUNT;
    RETURN gone + _pgrecall.purge_expansions();
END
$function$;

COMMENT ON FUNCTION pgrecall.purge_query_embeddings IS
    'Forgets embeddings of queries that have not been asked for long, and the oldest beyond a number; returns how many.';

ALTER FUNCTION pgrecall.purge_query_embeddings OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.purge_query_embeddings TO pgrecall_embedder;
