-- Gives a namespace another name; its memories, grants and rules stay. Administrators only.
--
-- Memories, grants and rules stay. Clients that use the old name find nothing any more.
--
-- Errors  42704 no such namespace;  23505 the new name is taken;  22023 empty or too long name
CREATE OR REPLACE FUNCTION pgrecall.rename_namespace(name text, new_name text)
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
SET debug_print_plan = off
AS $function$
DECLARE
    home CONSTANT integer := _pgrecall.known_namespace(rename_namespace.name);
BEGIN
    IF new_name IS NULL OR new_name !~ '[^[:space:]]' OR length(new_name) > 200 THEN
        RAISE EXCEPTION 'a namespace needs a name of 1 to 200 characters'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass another new_name.';
    ELSIF EXISTS (SELECT FROM pgrecall.namespaces n WHERE n.name = new_name AND n.id <> home) THEN
        RAISE EXCEPTION 'there is a namespace of the new name already'
            USING ERRCODE = 'unique_violation', HINT = 'Pass another new_name, or move the memories with export and import.';
    END IF;
    UPDATE pgrecall.namespaces n SET name = new_name WHERE n.id = home;
    PERFORM _pgrecall.rename_stored_default(rename_namespace.name, new_name);
END
$function$;

ALTER FUNCTION pgrecall.rename_namespace OWNER TO pgrecall_engine;
