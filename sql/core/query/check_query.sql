-- Raises an error for an empty or too long query, or a zero vector.
--
-- Errors  22023 neither words nor a vector, or a vector of length zero;
--         54000 a query of more than 16,384 characters
CREATE OR REPLACE FUNCTION _pgrecall.check_query(query text, query_vec pgvector.halfvec)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
BEGIN
    IF length(query) > 16384 THEN
        RAISE EXCEPTION 'the query has % characters; 16384 is the limit', length(query)
            USING ERRCODE = 'program_limit_exceeded', HINT = 'Pass a question, not a whole document.';
    ELSIF query_vec IS NULL AND _pgrecall.is_blank(query) THEN
        RAISE EXCEPTION 'the query is empty and there is no vector'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass words. An embedding alone will do too: query_vec => ''[0.1, …]''.';
    ELSIF pgvector.l2_norm(query_vec) = 0 THEN
        RAISE EXCEPTION 'the query vector is zero'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Cosine similarity needs a direction. Without a vector recall goes by words and concepts.';
    END IF;
END
$function$;
