-- Validates embeddings. The message names the position and quotes nothing, unlike the error of a cast.
--
-- Errors  22023 one of them is not a vector
CREATE OR REPLACE FUNCTION _pgrecall.check_vectors(embeddings text[])
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    embedding text;
    place integer := 0;
BEGIN
    FOREACH embedding IN ARRAY COALESCE(embeddings, '{}') LOOP
        place := place + 1;
        PERFORM embedding::pgvector.halfvec;
    END LOOP;
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
    RAISE EXCEPTION 'embedding % is not a vector', place
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Write it as [0.1,…], with finite numbers in the range of half precision.';
END
$function$;
