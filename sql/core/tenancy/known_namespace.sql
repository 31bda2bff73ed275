-- Returns the id of a namespace by its name; raises an error if it does not exist.
--
-- Errors  42704 no such namespace
CREATE OR REPLACE FUNCTION _pgrecall.known_namespace(name text)
RETURNS integer
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path FROM CURRENT
AS $function$
DECLARE
    found CONSTANT integer := _pgrecall.find_namespace(known_namespace.name);
BEGIN
    IF found IS NULL THEN
        RAISE EXCEPTION 'there is no namespace "%"', left(known_namespace.name, 200)
            USING ERRCODE = 'undefined_object', HINT = 'SELECT name FROM pgrecall.list_namespaces() lists them.';
    END IF;
    RETURN found;
END
$function$;
