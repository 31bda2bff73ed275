-- Permanently deletes a namespace with all its memories, grants and rules; returns the receipt.
--
-- It deletes everything that erase() deletes, for every memory, and the namespace itself with its grants, rules and
-- labels. The receipt has only its id, because a name can be personal data. Requires a role that sees every namespace,
-- like create_namespace().
--
-- dry_run  roll back: the receipt shows what would be deleted, has no number and is not kept
--
-- Errors  42501 the role does not see every namespace;  42704 no such namespace;  55000 not under read committed;
--         55P03 locked for too long
CREATE OR REPLACE FUNCTION public.erase_namespace(namespace text, dry_run boolean DEFAULT false)
RETURNS TABLE (receipt bigint, namespace_id integer, role text, erased_at timestamptz, counts jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    home integer;
BEGIN
    -- Other roles get no lookup: the error must not reveal whether a name exists.
    IF _pgrecall.sees_all() THEN
        SELECT n.id INTO home FROM pgrecall.namespaces n WHERE n.name = erase_namespace.namespace;
        IF home IS NULL THEN
            RAISE EXCEPTION 'there is no namespace "%"', COALESCE(left(erase_namespace.namespace, 200), 'NULL')
                USING ERRCODE = 'undefined_object', HINT = 'Check the name.';
        END IF;
    END IF;
    RETURN QUERY
    SELECT e.id, e.namespace_id, e.role, e.erased_at, e.counts FROM _pgrecall.erase_namespace_granted(home, dry_run) e;
END
$function$;

ALTER FUNCTION public.erase_namespace OWNER TO pgrecall_gate;

REVOKE ALL ON FUNCTION public.erase_namespace FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder;
GRANT EXECUTE ON FUNCTION public.erase_namespace TO pgrecall_writer;
