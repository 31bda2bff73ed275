-- Tells what speaks for and against a ranked memory: the parts of its confidence, log odds by name.
--
-- NULL without a confidence. Everything but the lead is computed again, as rank_memories() does it; the lead is the rest, so that
-- the parts add up to the confidence that recall() returns.
--
-- ranked  the memory's row from rank_memories()
CREATE OR REPLACE FUNCTION _pgrecall.explain_confidence(
    memory pgrecall.memories, ranked pgrecall.ranked, request pgrecall.recall_request
)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    parsed pgrecall.parsed_query := request.parsed;
    hollow record;
    hollow_part double precision;
    evidence double precision;
    parts record;
BEGIN
    IF ranked.confidence IS NULL THEN
        RETURN NULL;
    END IF;
    SELECT * INTO hollow FROM _pgrecall.pronouns_of(parsed);
    IF hollow.words IS NOT NULL THEN
        hollow_part := _pgrecall.bm25_score(
            memory.search_vector, memory.word_count, hollow.words, hollow.idfs, parsed.impacts
        );
    END IF;
    evidence := ranked.lexical_score - COALESCE(hollow_part, 0);
    SELECT p.* INTO parts
    FROM _pgrecall.confidence_parts(
        evidence, _pgrecall.firm_bm25(parsed, hollow.weight, request.query_name, (request.settings).bm25_max_terms), 0,
        request.query_vec IS NOT NULL,
        COALESCE(_pgrecall.is_contradicted(memory, request.stated, _pgrecall.version_pattern(request.query_name)), false)
    ) p;
    RETURN jsonb_build_object(
        'base', parts.base, 'share', parts.share, 'evidence', parts.evidence,
        'lead', ln(ranked.confidence / (1 - ranked.confidence))
                - (parts.base + parts.share + parts.evidence + parts.contradiction),
        'contradiction', parts.contradiction
    );
END
$function$;
