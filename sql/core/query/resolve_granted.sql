-- Resolves a request as pgrecall_engine, in a namespace that the session's role may read; in none if there is no such namespace.
--
-- Resolving reads a dozen tables. Under row-level security each statement would check the grant again, so this function looks
-- the namespace up under the policies and reads everything else by its id, without them, as rank_granted() does.
--
-- The other arguments are resolve_request()'s, and so are the errors
CREATE OR REPLACE FUNCTION _pgrecall.resolve_granted(
    query text, query_vec pgvector.halfvec, namespace text, arguments jsonb, reads_past boolean DEFAULT false,
    anchor timestamptz DEFAULT NULL
)
RETURNS pgrecall.recall_request
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path FROM CURRENT
SET debug_print_plan = off
AS $function$
BEGIN
    RETURN _pgrecall.resolve_request(
        query, query_vec, pgrecall.namespace_id(namespace), arguments, resolve_granted.reads_past, resolve_granted.anchor
    );
END
$function$;

ALTER FUNCTION _pgrecall.resolve_granted OWNER TO pgrecall_engine;
