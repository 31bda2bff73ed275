-- Explains why the dense leg did not find a memory that matches the filter. NULL: the leg takes no part.
--
-- The arguments are those of explain_not_found().
CREATE OR REPLACE FUNCTION _pgrecall.dense_not_found(
    memory pgrecall.memories, ranked pgrecall.ranked, request pgrecall.recall_request
)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    settings pgrecall.recall_settings := request.settings;
BEGIN
    RETURN CASE
        WHEN settings.dense_weight = 0 OR settings.strategy = 'prefilter' THEN NULL
        WHEN request.query_vec IS NULL THEN 'no vector was given'
        WHEN memory.is_sensitive THEN 'it is sensitive and never embedded'
        WHEN _pgrecall.embedding_of(memory, settings.generation) IS NULL THEN 'it is not embedded yet'
        WHEN ranked.dense_weight > 0 THEN 'others are nearer to the vector (the dense leg''s depth)'
    END;
END
$function$;
