-- Explains why the lexical leg did not find a memory that matches the filter. NULL: the leg takes no part.
--
-- The arguments are those of explain_not_found().
CREATE OR REPLACE FUNCTION _pgrecall.lexical_not_found(
    memory pgrecall.memories, ranked pgrecall.ranked, request pgrecall.recall_request, reference_time timestamptz
)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    settings pgrecall.recall_settings := request.settings;
    parsed pgrecall.parsed_query := request.parsed;
BEGIN
    RETURN CASE
        WHEN settings.lexical_weight = 0 AND settings.strategy <> 'prefilter' THEN NULL
        WHEN COALESCE(parsed.any_word, parsed.narrow) IS NULL THEN 'no memory holds a query word'
        WHEN ranked.lexical_score IS NULL AND parsed.mode = 'bm25' THEN 'it holds no query word'
        WHEN ranked.lexical_score IS NULL THEN 'its words do not match in lexical_mode ' || parsed.mode
        WHEN COALESCE(memory.occurred_at, memory.created_at) < reference_time - settings.lexical_lookback
            THEN 'it is older than lexical_lookback'
        WHEN ranked.lexical_weight > 0 OR settings.strategy = 'prefilter'
            THEN 'others match the words better (the lexical leg''s depth)'
    END;
END
$function$;
