-- Returns how much of a query's words the best memory of the lexical leg holds: its BM25 over that of a memory with all of
-- them, at most 1. 0 if no memory holds any, if the words take no part, or in a namespace that the session's role may not read.
--
-- It runs as pgrecall_engine, as rank_granted() does and for its reason.
CREATE OR REPLACE FUNCTION _pgrecall.best_word_share(
    request pgrecall.recall_request, filter pgrecall.recall_filter, reference_time timestamptz
)
RETURNS double precision
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    legs record;
    parsed pgrecall.parsed_query := request.parsed;
    best double precision;
BEGIN
    IF NOT _pgrecall.may_read(request.namespace_id) OR (request.settings).fusion <> 'cc' THEN
        RETURN 0::double precision;
    END IF;
    SELECT * INTO legs FROM _pgrecall.leg_inputs(request, filter, reference_time);
    IF legs.lexical_depth > 0 AND parsed.max_bm25 > 0 THEN
        SELECT max(l.score) INTO best
        FROM _pgrecall.lexical_leg(request.namespace_id, parsed, legs.lexical_filter, 1) l;
    END IF;
    RETURN least(COALESCE(best / parsed.max_bm25, 0), 1);
END
$function$;

ALTER FUNCTION _pgrecall.best_word_share OWNER TO pgrecall_engine;
