-- Returns the plan of the search that graph_leg() runs for a request, under the name of its function.
--
-- The search starts from what the other legs find and the scores that they give, so both are computed first.
CREATE OR REPLACE FUNCTION _pgrecall.graph_plan(
    request pgrecall.recall_request, filter pgrecall.recall_filter, reference_time timestamptz
)
RETURNS SETOF text
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    settings pgrecall.recall_settings := request.settings;
    unraised pgrecall.recall_request := request;
    legs record;
    seeds record;
BEGIN
    SELECT * INTO legs FROM _pgrecall.leg_inputs(request, filter, reference_time);
    -- The walk starts from the scores before it, sessions and phrases raise them.
    settings.graph_seeds := 0;
    settings.session_share := 0;
    settings.phrase_bonus := 0;
    unraised.period := NULL;
    unraised.settings := settings;
    SELECT array_agg(r.id ORDER BY r.relevance DESC, r.id) AS ids, array_agg(r.relevance ORDER BY r.relevance DESC, r.id) AS levels
    INTO seeds
    FROM _pgrecall.rank_memories(unraised, filter, reference_time, ARRAY(
        SELECT l.id FROM _pgrecall.lexical_leg(request.namespace_id, request.parsed, legs.lexical_filter, legs.lexical_depth) l
        UNION
        SELECT d.id
        FROM _pgrecall.dense_leg(
            request.namespace_id, request.query_vec, filter, legs.dense_depth, settings.dense_exact_rows, settings.generation,
            legs.has_passages
        ) d
        UNION
        SELECT n.id
        FROM _pgrecall.concept_candidates(
            request.namespace_id, request.concepts, filter, legs.graph_depth, settings.graph_decay, settings.hub_max_mentions,
            settings.graph_weight, settings.graph_mention, request.implied, settings.expansion_weight
        ) n
    )) r
    WHERE r.is_candidate;
    RETURN QUERY SELECT * FROM unnest(ARRAY['graph leg, graph_search:']);
    RETURN QUERY SELECT * FROM _pgrecall.explain_search(
        '_pgrecall.graph_search', 'SELECT s.* FROM _pgrecall.graph_search($1, $2, $3, $4, $5, $6, $7) s',
        ARRAY[
            request.namespace_id::text, seeds.ids::text, seeds.levels::text, filter::text, seeds.ids::text,
            legs.graph_depth::text, (request.settings)::text
        ]
    );
END
$function$;
