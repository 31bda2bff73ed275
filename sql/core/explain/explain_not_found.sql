-- Explains why no leg found a memory that matches the filter: one clause per leg.
--
-- ranked          the memory's row from rank_memories()
-- reference_time  lexical_lookback counts back from here
CREATE OR REPLACE FUNCTION _pgrecall.explain_not_found(
    memory pgrecall.memories, ranked pgrecall.ranked, request pgrecall.recall_request, reference_time timestamptz
)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    settings pgrecall.recall_settings := request.settings;
    parsed pgrecall.parsed_query := request.parsed;
    by_words text;
    by_vector text;
    by_concepts text;
BEGIN
    by_words := CASE
        WHEN settings.lexical_weight = 0 AND settings.strategy <> 'prefilter' THEN NULL
        WHEN COALESCE(parsed.any_word, parsed.narrow) IS NULL THEN 'no memory holds a query word'
        WHEN ranked.lexical_score IS NULL AND parsed.mode = 'bm25' THEN 'it holds no query word'
        WHEN ranked.lexical_score IS NULL THEN 'its words do not match in lexical_mode ' || parsed.mode
        WHEN COALESCE(memory.occurred_at, memory.created_at) < reference_time - settings.lexical_lookback
            THEN 'it is older than lexical_lookback'
        WHEN ranked.lexical_weight > 0 OR settings.strategy = 'prefilter'
            THEN 'others match the words better (the lexical leg''s depth)'
    END;
    by_vector := CASE
        WHEN settings.dense_weight = 0 OR settings.strategy = 'prefilter' THEN NULL
        WHEN request.query_vec IS NULL THEN 'no vector was given'
        WHEN memory.is_sensitive THEN 'it is sensitive and never embedded'
        WHEN _pgrecall.embedding_of(memory, (request.settings).generation) IS NULL THEN 'it is not embedded yet'
        WHEN ranked.dense_weight > 0 THEN 'others are nearer to the vector (the dense leg''s depth)'
    END;
    IF settings.graph_weight > 0 AND settings.graph_hops > 0 THEN
        by_concepts := 'no concept links to it';
    END IF;
    RETURN 'found by no leg: ' || COALESCE(
        NULLIF(concat_ws('; ', by_words, by_vector, by_concepts), ''), 'all legs are off'
    );
END
$function$;
