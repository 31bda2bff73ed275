-- rank_memories() as pgrecall_engine, in a namespace that the session's role may read.
--
-- Row-level security would keep the legs from their indexes: what is not leakproof (arrays' && and @>, jsonb's @>, tsvector's
-- @@, COALESCE) is asked only after the policy, memory by memory (docs/adr/0014). So the grant is looked up once. No memory of
-- another namespace can come: whatever the request says, each leg reads the request's namespace alone. It returns ids and
-- scores; recall() reads the texts, under the policies.
--
-- The arguments are rank_memories()'s.
CREATE OR REPLACE FUNCTION _pgrecall.rank_granted(
    request pgrecall.recall_request, filter pgrecall.recall_filter, reference_time timestamptz, extra_ids bigint[] DEFAULT NULL
)
RETURNS SETOF pgrecall.ranked
-- Restricted: a parallel worker does not know of SET ROLE by the setting.
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 10
SET search_path FROM CURRENT
AS $function$
BEGIN
    IF _pgrecall.may_read(request.namespace_id) THEN
        RETURN QUERY SELECT r.* FROM _pgrecall.rank_memories(request, filter, reference_time, extra_ids) r;
    END IF;
END
$function$;

COMMENT ON FUNCTION _pgrecall.rank_granted IS 'rank_memories() as pgrecall_engine, in a namespace that the session''s role may read.';

ALTER FUNCTION _pgrecall.rank_granted OWNER TO pgrecall_engine;
