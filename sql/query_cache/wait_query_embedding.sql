-- Waits for the answer to a question put with request_query_embedding(), and returns it; no row if it takes too long.
--
-- For clients that cannot LISTEN, behind a pooler, and cheaper for the others than to listen, look and stop listening. It
-- looks every millisecond at first, less often later. A session of its own reads what others commit meanwhile: call it
-- as a statement of its own, after the one with request_query_embedding() is committed.
--
-- seconds  to wait at most, 0 to 60
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

COMMENT ON FUNCTION pgrecall.wait_query_embedding IS
    'Waits for the answer to a question put with request_query_embedding(), and returns it; no row if it takes too long.';

GRANT EXECUTE ON FUNCTION pgrecall.wait_query_embedding TO pgrecall_reader;
