-- Raises an error for a number of memories that one call cannot take: it must be between 1 and 100,000.
--
-- Errors  22023 out of range
CREATE OR REPLACE FUNCTION _pgrecall.check_batch_size(max_memories integer)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
BEGIN
    IF max_memories IS NULL OR max_memories NOT BETWEEN 1 AND 100000 THEN
        RAISE EXCEPTION 'max_memories must be between 1 and 100000, not %', COALESCE(max_memories::text, 'NULL')
            USING ERRCODE = 'invalid_parameter_value', HINT = 'The default is 1000.';
    END IF;
END
$function$;
