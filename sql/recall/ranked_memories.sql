-- rank_memories(), by the quickest way that the caller's rights allow.
--
-- Inside a function that runs with another role's rights, that role's count, and row-level security has its price.
--
-- The arguments are rank_memories()'s.
CREATE OR REPLACE FUNCTION pgrecall.ranked_memories(
    question pgrecall.question, filter pgrecall.recall_filter, reference_time timestamptz, also bigint[] DEFAULT NULL
)
RETURNS SETOF pgrecall.ranked
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 10
SET search_path FROM CURRENT
AS $function$
BEGIN
    IF row_security_active('pgrecall.memories'::regclass) AND pgrecall.session_role() = quote_ident(current_user)::regrole THEN
        RETURN QUERY SELECT r.* FROM pgrecall.rank_granted(question, filter, reference_time, also) r;
    ELSE
        RETURN QUERY SELECT r.* FROM pgrecall.rank_memories(question, filter, reference_time, also) r;
    END IF;
END
$function$;

COMMENT ON FUNCTION pgrecall.ranked_memories IS 'rank_memories(), by the quickest way that the caller''s rights allow.';
