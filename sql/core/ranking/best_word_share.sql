-- Returns how much of a query's words the best memory of the lexical leg holds: its BM25 over that of a memory with all of
-- them, at most 1. 0 if no memory holds any, or if the words take no part.
CREATE OR REPLACE FUNCTION _pgrecall.best_word_share(
    request pgrecall.recall_request, filter pgrecall.recall_filter, reference_time timestamptz
)
RETURNS double precision
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    legs record;
    parsed pgrecall.parsed_query := request.parsed;
    best double precision;
BEGIN
    IF (request.settings).fusion <> 'cc' THEN
        RETURN 0::double precision;
    END IF;
    SELECT * INTO legs FROM _pgrecall.leg_inputs(request, filter, reference_time);
    IF legs.lexical_depth > 0 AND parsed.max_bm25 > 0 THEN
        IF parsed.added IS NULL THEN
            SELECT max(l.score) INTO best
            FROM _pgrecall.lexical_leg(request.namespace_id, parsed, legs.lexical_filter, 1) l;
        ELSE
            -- Without what was added to the query, which max_bm25 does not count.
            SELECT max(l.score - _pgrecall.bm25_score(m.search_vector, m.word_count, parsed.added, parsed.added_idfs, parsed.impacts))
            INTO best
            FROM _pgrecall.lexical_leg(request.namespace_id, parsed, legs.lexical_filter, legs.lexical_depth) l
            JOIN pgrecall.memories m ON m.id = l.id;
        END IF;
    END IF;
    RETURN least(COALESCE(best / parsed.max_bm25, 0), 1);
END
$function$;
