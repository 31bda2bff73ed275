-- Raises an error about a memory that the current role may read but not change.
--
-- Otherwise the memory would seem absent, because policies hide it from UPDATE and DELETE.
--
-- Errors  42501 read-only for this role
CREATE OR REPLACE FUNCTION _pgrecall.raise_read_only(id bigint)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path FROM CURRENT
AS $function$
DECLARE
    seen CONSTANT bigint := _pgrecall.seen_id('memory', raise_read_only.id);
    namespace text;
BEGIN
    SELECT n.name INTO namespace
    FROM pgrecall.memories m
    JOIN pgrecall.namespaces n ON n.id = m.namespace_id
    WHERE m.id = seen AND m.deleted_at IS NULL AND NOT _pgrecall.may_write(m.namespace_id);
    IF FOUND THEN
        RAISE EXCEPTION 'role "%" may only read namespace "%", with memory %',
            pg_get_userbyid(pgrecall.session_role()), namespace, raise_read_only.id
            USING ERRCODE = 'insufficient_privilege',
                  HINT = 'An administrator grants more with pgrecall.grant_namespace(role, namespace, ''write'').';
    END IF;
END
$function$;
