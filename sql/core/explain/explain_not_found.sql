-- Explains why no leg found a memory that matches the filter: what <leg>_not_found() of each says.
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
BEGIN
    RETURN 'found by no leg: ' || COALESCE(NULLIF(concat_ws(
        '; ',
        _pgrecall.lexical_not_found(memory, ranked, request, reference_time),
        _pgrecall.dense_not_found(memory, ranked, request),
        _pgrecall.graph_not_found(request.settings)
    ), ''), 'all legs are off');
END
$function$;
