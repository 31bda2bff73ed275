-- Raises the error about a memory that is not there, or not to be changed.
--
-- Errors  42501 it may only be read;  P0002 otherwise
CREATE OR REPLACE FUNCTION pgrecall.refuse_unknown(id bigint)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
BEGIN
    PERFORM pgrecall.refuse_reader(refuse_unknown.id);
    RAISE EXCEPTION 'there is no memory %', COALESCE(refuse_unknown.id::text, 'NULL')
        USING ERRCODE = 'no_data_found', HINT = 'Check the id; a forgotten memory counts as absent.';
END
$function$;

COMMENT ON FUNCTION pgrecall.refuse_unknown IS 'Raises the error about a memory that is not there, or not to be changed.';
