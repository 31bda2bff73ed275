-- Returns the id of a namespace that the session's role sees, by its name. NULL if there is none.
--
-- A role looks a name up among its grants. In the index of all names, the entries and pages that are read would tell which
-- names exist.
CREATE OR REPLACE FUNCTION _pgrecall.find_namespace(name text)
RETURNS integer
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path FROM CURRENT
AS $function$
BEGIN
    IF _pgrecall.sees_all() OR _pgrecall.is_embedder() THEN
        RETURN (SELECT n.id FROM pgrecall.namespaces n WHERE n.name = find_namespace.name);
    END IF;
    RETURN (
        SELECT g.namespace_id FROM pgrecall.grants g
        WHERE g.role = ANY (_pgrecall.held_roles(pgrecall.session_role())) AND g.namespace = find_namespace.name
        LIMIT 1
    );
END
$function$;
