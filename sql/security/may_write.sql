-- Whether the session's role may write to a namespace. The policies decide: this is for an error that says what to do.
CREATE OR REPLACE FUNCTION pgrecall.may_write(namespace_id integer)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path FROM CURRENT
AS $function$
BEGIN
    RETURN pgrecall.sees_all() OR EXISTS (
        SELECT FROM pgrecall.grants g
        WHERE g.namespace_id = may_write.namespace_id AND g.access = 'write'
          AND g.role = ANY (pgrecall.held_roles(pgrecall.session_role()))
    );
END
$function$;

COMMENT ON FUNCTION pgrecall.may_write IS 'Whether the session''s role may write to a namespace.';
