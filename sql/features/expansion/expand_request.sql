-- Adds query expansion to a request, according to the setting expand.
--
--   aliases  other names of the concepts that the query names (alias_terms)
--   llm      a language model's expansion of exactly this query, if this role has cached one (cache_expansion)
--
-- The terms go to the lexical leg, the concepts to the graph leg. Nothing is added if lexical_mode is not bm25, if
-- strategy is vector, or if is_expandable() is false.
CREATE OR REPLACE FUNCTION _pgrecall.expand_request(request pgrecall.recall_request, languages regconfig[], query text)
RETURNS pgrecall.recall_request
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    wider pgrecall.recall_request := request;
    settings pgrecall.recall_settings := request.settings;
    terms text[];
    entities text[];
BEGIN
    IF settings.lexical_mode <> 'bm25' OR settings.strategy = 'vector' OR settings.expansion_weight = 0
       OR NOT pgrecall.is_expandable(query) THEN
        RETURN request;
    ELSIF settings.expand = 'aliases' THEN
        terms := _pgrecall.alias_terms(
            CASE WHEN request.concepts = '{}' THEN _pgrecall.named_concepts(request.namespace_id, query, settings.hub_max_mentions)
                 ELSE request.concepts END,
            query
        );
    ELSE
        SELECT k.terms, k.entities INTO terms, entities FROM _pgrecall.cached_expansion(languages, query) k;
    END IF;
    IF terms <> '{}' THEN
        wider.parsed := _pgrecall.expand_parsed_query(
            request.namespace_id, languages, query, request.parsed, terms, settings.expansion_weight, settings.bm25_max_terms
        );
    END IF;
    IF entities <> '{}' AND settings.graph_weight > 0 THEN
        wider.implied := _pgrecall.implied_concepts(request.namespace_id, entities, request.concepts, settings.hub_max_mentions);
    END IF;
    wider.expansion := NULLIF(terms, '{}');
    RETURN wider;
END
$function$;
