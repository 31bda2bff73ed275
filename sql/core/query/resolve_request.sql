-- Resolves and validates a request for recall: namespace, settings, parsed query, named concepts, named time, expansion.
--
-- It reads what the namespace has stored, under the rights of its caller (resolve_granted).
--
-- arguments  settings of this call by name
-- reads_past  whether the call's filter can pass memories that are over (reads_past)
-- anchor      from question_anchor(): "last week" is relative to it; NULL: no time is read from the query
--
-- Errors  those of effective_settings, check_query, query_generation and strategy_settings;
--         22023 all score factors are 0
CREATE OR REPLACE FUNCTION _pgrecall.resolve_request(
    query text, query_vec pgvector.halfvec, namespace_id integer, arguments jsonb, reads_past boolean DEFAULT false,
    anchor timestamptz DEFAULT NULL
)
RETURNS pgrecall.recall_request
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT SET standard_conforming_strings = on
AS $function$
DECLARE
    request pgrecall.recall_request;
    settings pgrecall.recall_settings := _pgrecall.effective_settings(
        arguments, (
            SELECT l.settings FROM pgrecall.learned_settings l
            WHERE l.namespace_id = resolve_request.namespace_id AND l.ended_at IS NULL
        )
    );
    asked CONSTANT text := _pgrecall.fold_digits(pgrecall.question_part(query));
    languages regconfig[] := _pgrecall.query_languages(namespace_id);
BEGIN
    PERFORM _pgrecall.check_query(query, query_vec);
    settings.generation := _pgrecall.query_generation(query_vec, settings.query_model);
    settings := _pgrecall.strategy_settings(settings, asked, query_vec IS NOT NULL);
    IF settings.sort_by <> 'relevance' THEN
        -- Diversity would put the list in an order of its own.
        settings.mmr_lambda := 1;
    END IF;
    IF settings.factor_relevance + settings.factor_importance + settings.factor_recency = 0 THEN
        RAISE EXCEPTION 'factor_relevance, factor_importance and factor_recency are all 0'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Set one of them above 0. factor_relevance is 1 by default.';
    END IF;
    request.namespace_id := namespace_id;
    request.query_vec := query_vec;
    request.settings := settings;
    request.query_name := pgrecall.normalize_name(asked);
    -- "more than 50 euros" asks for other values than 50, and a message of many words mentions values in passing.
    IF asked ~ '[0-9]' AND regexp_count(btrim(translate(asked, E'\n\r\t', '   ')), ' +') < 12
       AND asked !~* _pgrecall.comparison_pattern() THEN
        request.stated := _pgrecall.stated_values(asked, _pgrecall.value_terms(asked));
    END IF;
    request.parsed := _pgrecall.parse_query(
        request.namespace_id, languages, asked,
        greatest(settings.k, settings.leg_depth, ceil(settings.lexical_pool * settings.k)::integer,
                 CASE WHEN settings.strategy = 'prefilter' THEN settings.prefilter_depth END),
        settings, resolve_request.reads_past
    );
    request.concepts := CASE
        WHEN settings.graph_weight > 0 OR settings.entity_boost <> 1
            THEN _pgrecall.named_concepts(request.namespace_id, asked, settings.hub_max_mentions)
        ELSE '{}'
    END;
    -- One cheap test: most queries name no time.
    IF settings.question_time > 0 AND anchor IS NOT NULL
       AND ' ' || translate(lower(_pgrecall.fold_digits(asked)), E'\n\r\t("', '     ') LIKE ANY (_pgrecall.question_time_hints()) THEN
        request.period := _pgrecall.question_period(asked, anchor);
    END IF;
    IF settings.expand <> 'off' THEN
        request := _pgrecall.expand_request(request, languages, asked);
    END IF;
    RETURN request;
END
$function$;
