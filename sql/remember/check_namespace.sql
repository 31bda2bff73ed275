-- Makes sure that a namespace can be written to.
--
-- create_missing  make it if it does not exist
--
-- Errors  42704 it does not exist
CREATE OR REPLACE FUNCTION pgrecall.check_namespace(name text, create_missing boolean)
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
BEGIN
    IF create_missing THEN
        PERFORM pgrecall.create_namespace(check_namespace.name);
    ELSIF NOT EXISTS (SELECT FROM pgrecall.namespaces n WHERE n.name = check_namespace.name) THEN
        RAISE EXCEPTION 'there is no namespace "%"', left(check_namespace.name, 200)
            USING ERRCODE = 'undefined_object',
                  HINT = 'Pass create_namespace => true, or make it with pgrecall.create_namespace().';
    END IF;
END
$function$;

COMMENT ON FUNCTION pgrecall.check_namespace IS 'Makes sure that a namespace can be written to, making it if asked.';
