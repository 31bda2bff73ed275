-- A question with what the setting expand adds to it: words of the lexical leg, and concepts that lead the graph leg.
--
--   aliases  other names of the concepts that the query names (alias_terms)
--   llm      what a language model said of exactly this query, if this role has kept it (cache_expansion)
--
-- Nothing is added in another lexical_mode than bm25, with strategy vector, and to what is_expandable() rules out.
CREATE OR REPLACE FUNCTION _pgrecall.expand_request(asked pgrecall.recall_request, languages regconfig[], query text)
RETURNS pgrecall.recall_request
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    wider pgrecall.recall_request := asked;
    settings pgrecall.recall_settings := asked.settings;
    terms text[];
    entities text[];
BEGIN
    IF settings.lexical_mode <> 'bm25' OR settings.strategy = 'vector' OR settings.expansion_weight = 0
       OR NOT pgrecall.is_expandable(query) THEN
        RETURN asked;
    ELSIF settings.expand = 'aliases' THEN
        terms := _pgrecall.alias_terms(
            CASE WHEN asked.concepts = '{}' THEN _pgrecall.named_concepts(asked.namespace_id, query, settings.hub_max_mentions)
                 ELSE asked.concepts END,
            query
        );
    ELSE
        SELECT k.terms, k.entities INTO terms, entities FROM _pgrecall.cached_expansion(languages, query) k;
    END IF;
    IF terms <> '{}' THEN
        wider.parsed := _pgrecall.expand_parsed_query(
            asked.namespace_id, languages, query, asked.parsed, terms, settings.expansion_weight
        );
    END IF;
    IF entities <> '{}' AND settings.graph_weight > 0 THEN
        wider.implied := _pgrecall.implied_concepts(asked.namespace_id, entities, asked.concepts, settings.hub_max_mentions);
    END IF;
    wider.expansion := NULLIF(terms, '{}');
    RETURN wider;
END
$function$;

COMMENT ON FUNCTION _pgrecall.expand_request IS 'A question with what the setting expand adds to it.';
