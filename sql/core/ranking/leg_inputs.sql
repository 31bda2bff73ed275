-- Returns what the legs of a recall are given: the weight of each, how many candidates it fetches, and the lexical leg's filter.
--
-- lexical_weight, dense_weight  their weights in the fusion;  total_weight  the sum
-- sparse_weight    what the sparse terms take of the lexical weight if any of them matches (sparse_weights); 0 without sparse terms, and
--                  with fusion rrf, since they have no ranks
-- lexical_depth …  how many candidates the leg fetches (leg_depth); 0: it does not take part
-- lexical_filter   the filter, with lexical_lookback
-- has_passages     whether the dense leg searches passages
CREATE OR REPLACE FUNCTION _pgrecall.leg_inputs(
    request pgrecall.recall_request, filter pgrecall.recall_filter, reference_time timestamptz,
    OUT lexical_weight double precision, OUT dense_weight double precision, OUT sparse_weight double precision,
    OUT total_weight double precision,
    OUT lexical_depth integer, OUT dense_depth integer, OUT graph_depth integer,
    OUT lexical_filter pgrecall.recall_filter, OUT has_passages boolean
)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    settings pgrecall.recall_settings := request.settings;
    parsed pgrecall.parsed_query := request.parsed;
BEGIN
    lexical_weight := CASE WHEN COALESCE(parsed.any_word, parsed.narrow) IS NOT NULL
        THEN settings.lexical_weight * CASE WHEN settings.fusion = 'cc' THEN 1 - settings.cc_alpha ELSE 1 END
        ELSE 0 END;
    -- Also for a query of which no memory holds a word.
    sparse_weight := CASE WHEN parsed.sparse IS NOT NULL AND settings.fusion = 'cc'
        THEN settings.sparse_share * settings.lexical_weight * (1 - settings.cc_alpha)
        ELSE 0 END;
    dense_weight := CASE WHEN request.query_vec IS NOT NULL
        THEN settings.dense_weight * CASE WHEN settings.fusion = 'cc' THEN settings.cc_alpha ELSE 1 END
        ELSE 0 END;
    total_weight := lexical_weight + dense_weight;
    IF settings.strategy = 'prefilter' THEN
        lexical_depth := greatest(settings.k, settings.prefilter_depth);
        dense_depth := 0;
    ELSE
        lexical_depth := _pgrecall.leg_depth(lexical_weight, settings.lexical_pool, settings.leg_depth, settings.k);
        dense_depth := _pgrecall.leg_depth(dense_weight, settings.dense_pool, settings.leg_depth, settings.k);
    END IF;
    graph_depth := _pgrecall.leg_depth(settings.graph_weight, settings.graph_pool, settings.leg_depth, settings.k);
    lexical_filter := filter;
    IF settings.lexical_lookback IS NOT NULL THEN
        lexical_filter.since := greatest(filter.since, reference_time - settings.lexical_lookback);
    END IF;
    -- A range in its order, as in sparse_query().
    has_passages := request.query_vec IS NOT NULL AND (
        SELECT p.namespace_id FROM pgrecall.passages p
        WHERE p.namespace_id BETWEEN request.namespace_id AND request.namespace_id
          AND p.generation_id = COALESCE(settings.generation, pgrecall.active_generation())
        ORDER BY p.namespace_id
        LIMIT 1
    ) IS NOT NULL;
END
$function$;
