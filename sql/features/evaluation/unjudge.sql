-- Removes a judged query and its judgements. Returns whether it existed, and was the role's own.
--
-- namespace  NULL: the setting pgrecall.namespace, else 'default'
CREATE OR REPLACE FUNCTION pgrecall.unjudge(query_id text, namespace text DEFAULT NULL)
RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
BEGIN
    DELETE FROM pgrecall.judged_queries q
    WHERE q.namespace_id = pgrecall.namespace_id(namespace) AND q.query_id = unjudge.query_id
      AND _pgrecall.may_rejudge(q.owner);
    RETURN FOUND;
END
$function$;

ALTER FUNCTION pgrecall.unjudge OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.unjudge TO pgrecall_writer;
