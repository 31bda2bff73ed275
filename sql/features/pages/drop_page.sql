-- Drops a page with its lines. Returns whether there was one. The memories stay.
--
-- namespace  as for page()
--
-- Errors  42704 no such namespace;  42501 read-only for this role
CREATE OR REPLACE FUNCTION pgrecall.drop_page(name text, namespace text DEFAULT NULL)
RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    home CONSTANT integer := _pgrecall.writable_namespace(drop_page.namespace);
BEGIN
    PERFORM _pgrecall.lock_namespace(home);
    DELETE FROM pgrecall.pages p WHERE p.namespace_id = home AND p.name = drop_page.name;
    RETURN FOUND;
END
$function$;

ALTER FUNCTION pgrecall.drop_page OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.drop_page TO pgrecall_writer;
