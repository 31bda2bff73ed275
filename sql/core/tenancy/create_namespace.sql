-- Creates a namespace and returns its id, or the id of the existing one; concurrent callers get the same id. language is a
-- text-search configuration.
--
-- language  text-search configuration for its queries and for memories without their own; ignored if it exists
--
-- Errors  22023 empty or too long name;  42704 no such language;  42501 not visible to this role, which may not create
-- any
CREATE OR REPLACE FUNCTION pgrecall.create_namespace(name text, language text DEFAULT 'english')
RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    found integer;
BEGIN
    IF create_namespace.name IS NULL OR create_namespace.name !~ '[^[:space:]]' OR length(create_namespace.name) > 200 THEN
        RAISE EXCEPTION 'a namespace needs a name of 1 to 200 characters'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Leave the namespace out to work in ''default''.';
    END IF;
    PERFORM _pgrecall.check_language(create_namespace.language);

    found := _pgrecall.find_namespace(create_namespace.name);
    IF found IS NULL THEN
        IF NOT _pgrecall.sees_all() THEN
            -- Same error whether it exists or not: a role must not learn the namespaces of others.
            RAISE EXCEPTION 'role "%" may not create namespaces', pg_get_userbyid(pgrecall.session_role())
                USING ERRCODE = 'insufficient_privilege',
                      HINT = 'An administrator creates it with pgrecall.create_namespace() and grants it with pgrecall.grant_namespace().';
        END IF;
        INSERT INTO pgrecall.namespaces AS n (name, language) VALUES (create_namespace.name, create_namespace.language)
        ON CONFLICT ON CONSTRAINT namespaces_name_key DO NOTHING
        RETURNING n.id INTO found;
    END IF;
    IF found IS NULL THEN
        SELECT n.id INTO found FROM pgrecall.namespaces n WHERE n.name = create_namespace.name;
    END IF;
    RETURN found;
END
$function$;

ALTER FUNCTION pgrecall.create_namespace OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.create_namespace TO pgrecall_writer;
