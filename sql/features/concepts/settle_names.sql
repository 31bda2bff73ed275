-- Stores what the language model said about a name of pgrecall.doubtful_names, and merges it with the one it means the same as.
--
-- Only pairs that were listed are merged, and none that was split or whose names have changed meanwhile. Returns whether a merge was
-- made. The others stay apart and are not asked again.
--
-- candidate_ids  those the model was asked about
-- same_id        the one it chose; NULL: none
-- names          the asked name and the chosen one, as sent
--
-- Errors  55P03 names in use
CREATE OR REPLACE FUNCTION pgrecall.settle_names(
    concept_id bigint, candidate_ids bigint[], same_id bigint DEFAULT NULL, names text[] DEFAULT '{}'
)
RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    is_same CONSTANT boolean := same_id = ANY (candidate_ids) AND NOT _pgrecall.was_split(settle_names.concept_id, same_id)
        AND EXISTS (
            SELECT FROM pgrecall.name_doubts d
            WHERE d.concept_id = settle_names.concept_id AND d.other_id = same_id AND d.asked_at IS NULL
        )
        AND (SELECT count(*) = 2 FROM pgrecall.concepts c WHERE c.id IN (settle_names.concept_id, same_id) AND c.name = ANY (names));
    kept bigint;
BEGIN
    -- Before the doubts: who deletes a concept holds its names, and waits for its doubts.
    IF is_same THEN
        kept := _pgrecall.merge_alike(settle_names.concept_id, same_id, 'llm', NULL);
    END IF;
    UPDATE pgrecall.name_doubts d SET asked_at = now()
    WHERE d.concept_id = settle_names.concept_id AND d.other_id = ANY (candidate_ids) AND d.asked_at IS NULL;
    RETURN kept IS NOT NULL;
END
$function$;

ALTER FUNCTION pgrecall.settle_names OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.settle_names TO pgrecall_embedder;
