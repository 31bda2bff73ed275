-- Raises the error about a memory that is not there.
--
-- Errors  P0002 always
CREATE OR REPLACE FUNCTION pgrecall.refuse_unknown(id bigint)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
BEGIN
    RAISE EXCEPTION 'there is no memory %', COALESCE(refuse_unknown.id::text, 'NULL')
        USING ERRCODE = 'no_data_found', HINT = 'Check the id; a forgotten memory counts as absent.';
END
$function$;

COMMENT ON FUNCTION pgrecall.refuse_unknown IS 'Raises the error about a memory that is not there.';
