-- Runs rank_memories() as pgrecall_engine, in a namespace that the session's role may read.
--
-- Row-level security would keep the legs from their indexes: operators that are not leakproof (arrays' && and @>,
-- jsonb's @>, tsvector's @@, COALESCE) run only after the policy, row by row (docs/adr/0014). So this function checks
-- the grant once. Every leg reads only the request's namespace, so no memory of another namespace can appear. It
-- returns ids and scores; recall() reads the texts, under the policies.
--
-- The arguments are rank_memories()'s.
CREATE OR REPLACE FUNCTION _pgrecall.rank_granted(
    request pgrecall.recall_request, filter pgrecall.recall_filter, reference_time timestamptz, extra_ids bigint[] DEFAULT NULL
)
RETURNS SETOF pgrecall.ranked
-- Restricted: a parallel worker does not see the caller's SET ROLE.
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 10
SET search_path FROM CURRENT
SET debug_print_plan = off
SET plan_cache_mode = force_generic_plan
AS $function$
BEGIN
    -- An empty namespace is left here: to start the statement that ranks costs a millisecond. A range in its order, as in sparse_query().
    IF _pgrecall.may_read(request.namespace_id) AND (
        SELECT m.namespace_id FROM pgrecall.memories m
        WHERE m.namespace_id BETWEEN request.namespace_id AND request.namespace_id
        ORDER BY m.namespace_id
        LIMIT 1
    ) IS NOT NULL THEN
        RETURN QUERY SELECT r.* FROM _pgrecall.rank_memories(request, filter, reference_time, extra_ids) r;
    END IF;
END
$function$;

ALTER FUNCTION _pgrecall.rank_granted OWNER TO pgrecall_engine;
