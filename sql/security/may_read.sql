-- Whether the session's role may read a namespace. The policies decide: this is for what runs as pgrecall_engine.
CREATE OR REPLACE FUNCTION pgrecall.may_read(namespace_id integer)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path FROM CURRENT
AS $function$
BEGIN
    RETURN pgrecall.sees_all() OR EXISTS (
        SELECT FROM pgrecall.grants g
        WHERE g.namespace_id = may_read.namespace_id AND g.role = ANY (pgrecall.held_roles(pgrecall.session_role()))
    );
END
$function$;

COMMENT ON FUNCTION pgrecall.may_read IS 'Whether the session''s role may read a namespace.';
