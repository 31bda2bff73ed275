-- Raises the error for a memory that does not exist or may not be changed.
--
-- Errors  42501 the role may only read it;  P0002 otherwise
CREATE OR REPLACE FUNCTION _pgrecall.raise_unknown_memory(id bigint)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path FROM CURRENT
AS $function$
BEGIN
    PERFORM _pgrecall.raise_read_only(raise_unknown_memory.id);
    RAISE EXCEPTION 'there is no memory %', COALESCE(raise_unknown_memory.id::text, 'NULL')
        USING ERRCODE = 'no_data_found', HINT = 'Check the id; a forgotten memory counts as absent.';
END
$function$;
