-- What a recall asks, resolved and checked: namespace, settings, the query's words and concepts, and what expand adds.
--
-- arguments  settings of this call by name
--
-- Errors  those of effective_settings, check_query, query_generation and strategy_settings;  22023 nothing that a score could be made of
CREATE OR REPLACE FUNCTION _pgrecall.resolve_request(query text, query_vec pgvector.halfvec, namespace text, arguments jsonb)
RETURNS pgrecall.recall_request
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    asked pgrecall.recall_request;
    settings pgrecall.recall_settings := _pgrecall.effective_settings(arguments);
    languages regconfig[] := _pgrecall.query_languages(namespace);
BEGIN
    PERFORM _pgrecall.check_query(query, query_vec);
    settings.generation := _pgrecall.query_generation(query_vec, settings.query_model);
    settings := _pgrecall.strategy_settings(settings, query, query_vec IS NOT NULL);
    IF settings.factor_relevance + settings.factor_importance + settings.factor_recency = 0 THEN
        RAISE EXCEPTION 'factor_relevance, factor_importance and factor_recency are all 0'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Give one of them a weight: relevance has 1 by default.';
    END IF;
    asked.namespace_id := pgrecall.namespace_id(namespace);
    asked.query_vec := query_vec;
    asked.settings := settings;
    asked.parsed := _pgrecall.parse_query(
        asked.namespace_id, languages, query,
        greatest(settings.k, settings.leg_depth, ceil(settings.lexical_pool * settings.k)::integer,
                 CASE WHEN settings.strategy = 'prefilter' THEN settings.prefilter_depth END),
        settings
    );
    asked.concepts := CASE
        WHEN settings.graph_weight > 0 OR settings.entity_boost <> 1
            THEN _pgrecall.named_concepts(asked.namespace_id, query, settings.hub_max_mentions)
        ELSE '{}'
    END;
    IF settings.expand <> 'off' THEN
        asked := _pgrecall.expand_request(asked, languages, query);
    END IF;
    RETURN asked;
END
$function$;

COMMENT ON FUNCTION _pgrecall.resolve_request IS 'What a recall asks, resolved and checked: namespace, settings, the query''s words and concepts.';
