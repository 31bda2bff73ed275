-- Waits for the answer to a request (request_query_embedding) and returns it; no row after a timeout.
--
-- For clients that cannot LISTEN behind a pooler. For other clients it is cheaper than LISTEN, poll and UNLISTEN. Polls
-- every millisecond at first, then less often. Call it as a separate statement, after the transaction of
-- request_query_embedding() has committed.
--
-- seconds  timeout, 0 to 60
--
-- Errors  22023 seconds out of range
CREATE OR REPLACE FUNCTION pgrecall.wait_query_embedding(id bigint, seconds double precision)
RETURNS TABLE (embedding pgvector.halfvec, error text)
LANGUAGE plpgsql VOLATILE ROWS 1
SET search_path FROM CURRENT
AS $function$
#variable_conflict use_column
DECLARE
    began CONSTANT timestamptz := clock_timestamp();
    waited double precision := 0::double precision;
BEGIN
    IF COALESCE(wait_query_embedding.seconds NOT BETWEEN 0 AND 60, true) THEN
        RAISE EXCEPTION 'cannot wait for % seconds', wait_query_embedding.seconds
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Wait for 0 to 60 seconds.';
    END IF;
    LOOP
        RETURN QUERY SELECT a.embedding, a.error FROM pgrecall.get_query_embedding(wait_query_embedding.id) AS a;
        EXIT WHEN FOUND OR waited >= wait_query_embedding.seconds;
        PERFORM pg_sleep(least(0.001 + waited / 50, wait_query_embedding.seconds - waited));
        waited := date_part('epoch', clock_timestamp() - began);
    END LOOP;
END
$function$;

GRANT EXECUTE ON FUNCTION pgrecall.wait_query_embedding TO pgrecall_reader;
