-- Ends a namespace's learned settings. Returns whether there were any. The feedback stays.
--
-- namespace  NULL: the setting pgrecall.namespace, else 'default'
--
-- Errors  42704 no such namespace;  42501 read-only for this role
CREATE OR REPLACE FUNCTION pgrecall.unlearn(namespace text DEFAULT NULL)
RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    home CONSTANT integer := _pgrecall.writable_namespace(unlearn.namespace);
BEGIN
    UPDATE pgrecall.learned_settings l SET ended_at = clock_timestamp(), end_reason = 'undone'
    WHERE l.namespace_id = home AND l.ended_at IS NULL;
    RETURN FOUND;
END
$function$;

ALTER FUNCTION pgrecall.unlearn OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.unlearn TO pgrecall_writer;
