-- Explains why a candidate was not returned: a threshold, a near-duplicate, diversity, or the cut at k.
--
-- ranked        the memory's row from rank_memories()
-- hidden_by     the returned memory that hides it as a near-duplicate; NULL: none
-- returned      how many memories were returned
-- lowest_score  the score of the last returned memory
CREATE OR REPLACE FUNCTION _pgrecall.explain_outranked(
    ranked pgrecall.ranked, request pgrecall.recall_request, hidden_by bigint, returned integer, lowest_score double precision
)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    settings pgrecall.recall_settings := request.settings;
BEGIN
    RETURN CASE
        WHEN settings.min_similarity > -1 AND request.query_vec IS NOT NULL
             AND COALESCE(ranked.similarity < settings.min_similarity, true)
            THEN format(
                'below min_similarity %s: %s', _pgrecall.format_score(settings.min_similarity),
                COALESCE('its similarity is ' || _pgrecall.format_score(ranked.similarity), 'it has no embedding')
            )
        WHEN ranked.score < settings.min_score
            THEN format('below min_score %s', _pgrecall.format_score(settings.min_score))
        WHEN settings.min_confidence > ranked.confidence AND ranked.candidate_rank <= settings.k
            THEN format('below min_confidence %s', _pgrecall.format_score(settings.min_confidence))
        WHEN hidden_by IS NOT NULL THEN format('hidden behind duplicate %s', hidden_by)
        WHEN settings.mmr_lambda < 1 AND ranked.candidate_rank <= settings.k
            THEN format('pushed down by MMR: place %s without it', ranked.candidate_rank)
        WHEN settings.sort_by <> 'relevance'
            THEN format('below the cut: place %s by %s, %s were returned', ranked.candidate_rank, settings.sort_by, returned)
        ELSE format(
            'below the cut: place %s, the last returned has score %s', ranked.candidate_rank, _pgrecall.format_score(lowest_score)
        )
    END;
END
$function$;
