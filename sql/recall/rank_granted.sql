-- rank_memories() with the owner's rights, in a namespace that the session's role was granted.
--
-- Row-level security would keep the legs from their indexes: what is not leakproof (arrays' && and @>, jsonb's @>, tsvector's
-- @@, COALESCE) is asked only after the policy, memory by memory (docs/adr/0014). So the grant is looked up once, and no
-- memory of another namespace can come: whatever the question says, each leg reads the question's namespace alone. It tells ids
-- and scores; texts are read by who asked.
--
-- The arguments are rank_memories()'s.
CREATE OR REPLACE FUNCTION pgrecall.rank_granted(
    question pgrecall.question, filter pgrecall.recall_filter, reference_time timestamptz, also bigint[]
)
RETURNS SETOF pgrecall.ranked
-- Restricted: a parallel worker does not know of SET ROLE by the setting.
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 10
SET search_path FROM CURRENT
AS $function$
DECLARE
    asking CONSTANT regrole := pgrecall.session_role();
BEGIN
    IF pg_has_role(asking, 'pgrecall_everywhere', 'USAGE') OR EXISTS (
        SELECT FROM pgrecall.grants g
        WHERE g.namespace_id = question.namespace_id AND g.role = ANY (pgrecall.held_roles(asking))
    ) THEN
        RETURN QUERY SELECT r.* FROM pgrecall.rank_memories(question, filter, reference_time, also) r;
    END IF;
END
$function$;

COMMENT ON FUNCTION pgrecall.rank_granted IS 'rank_memories() with the owner''s rights, in a namespace that the session''s role was granted.';
