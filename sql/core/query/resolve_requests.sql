-- Resolves a request for recall in several namespaces: one for each name, NULL for a namespace that the role does not see. With
-- one name it is that namespace's own request. Runs as pgrecall_engine, for the reason given in resolve_granted().
--
-- Several get one yardstick for words. In one namespace the lexical part of a score is measured against the best memory, if that
-- holds more of the query than lexical_coverage. In several it is measured against the best memory of them all: their best share
-- of the query becomes lexical_coverage. The dense part needs nothing: a cosine counts by its distance from the background of
-- its namespace.
--
-- names  from asked_namespaces()
-- The other arguments are resolve_request()'s; filter and reference_time are the call's
CREATE OR REPLACE FUNCTION _pgrecall.resolve_requests(
    query text, query_vec pgvector.halfvec, names text[], arguments jsonb, filter pgrecall.recall_filter, reference_time timestamptz
)
RETURNS pgrecall.recall_request[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path FROM CURRENT
SET debug_print_plan = off
AS $function$
DECLARE
    reads_past CONSTANT boolean := _pgrecall.reads_past(filter);
    anchor CONSTANT timestamptz := _pgrecall.question_anchor(filter, reference_time);
    requests pgrecall.recall_request[] := array_fill(NULL::pgrecall.recall_request, ARRAY[cardinality(names)]);
    request pgrecall.recall_request;
    settings pgrecall.recall_settings;
    seen CONSTANT integer[] := _pgrecall.seen_namespaces(names);
    share double precision := 0::double precision;
BEGIN
    IF cardinality(names) = 1 THEN
        RETURN ARRAY[_pgrecall.resolve_request(query, query_vec, seen[1], arguments, reads_past, anchor)];
    END IF;
    FOR place IN 1..cardinality(names) LOOP
        CONTINUE WHEN seen[place] IS NULL;
        request := _pgrecall.resolve_request(query, query_vec, seen[place], arguments, reads_past, anchor);
        requests[place] := request;
        filter.referring := _pgrecall.referring_memories(request.namespace_id, filter.timeframe);
        share := greatest(share, _pgrecall.best_word_share(request, filter, COALESCE(reference_time, now())));
    END LOOP;
    FOR place IN 1..cardinality(names) LOOP
        CONTINUE WHEN seen[place] IS NULL;
        request := requests[place];
        settings := request.settings;
        settings.lexical_coverage := greatest(settings.lexical_coverage, share);
        request.settings := settings;
        requests[place] := request;
    END LOOP;
    RETURN requests;
END
$function$;

ALTER FUNCTION _pgrecall.resolve_requests OWNER TO pgrecall_engine;
