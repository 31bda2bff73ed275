-- Selects the first k of a ranked list: collapses near-duplicates and applies diversity (MMR), according to the settings.
--
-- collapse_duplicates hides a memory behind a better one with the same text (content_hash) or a cosine of at least
-- duplicate_similarity. The better one lists the hidden ids. mmr_lambda below 1 reorders the best mmr_pool memories by
-- maximal marginal relevance:
-- lambda * score / best score - (1 - lambda) * similarity to the most similar memory already chosen.
--
-- Carbonell, Goldstein: The Use of MMR, Diversity-Based Reranking, SIGIR 1998.
--
-- ids, scores  the list, best first
-- mmr_penalty  what similarity subtracted: (1 - lambda) * similarity
CREATE OR REPLACE FUNCTION _pgrecall.mmr(
    ids bigint[], scores double precision[], k integer, settings pgrecall.recall_settings
)
RETURNS TABLE (id bigint, place integer, mmr_penalty double precision, duplicates bigint[])
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 10
SET search_path FROM CURRENT
AS $function$
#variable_conflict use_column
DECLARE
    pool_size integer := CASE WHEN settings.mmr_lambda < 1 THEN greatest(settings.mmr_pool, k) ELSE k END;
    kept bigint[] := '{}'::bigint[];
    kept_scores double precision[] := '{}'::double precision[];
    hidden jsonb := '{}'::jsonb;
    duplicate_of bigint;
    size integer;
    similarities double precision[];
    max_similarity double precision[];
    chosen integer[] := '{}'::integer[];
    best integer;
    highest_score double precision;
    marginal_score double precision;
BEGIN
    IF settings.mmr_lambda = 1 AND NOT settings.collapse_duplicates THEN
        RETURN QUERY
            SELECT o.id, o.place::integer, 0::double precision, '{}'::bigint[]
            FROM unnest(ids[:k]) WITH ORDINALITY o (id, place);
        RETURN;
    END IF;
    FOR i IN 1 .. COALESCE(cardinality(ids), 0) LOOP
        EXIT WHEN cardinality(kept) >= pool_size;
        duplicate_of := CASE
            WHEN settings.collapse_duplicates
            THEN _pgrecall.near_duplicate_of(ids[i], kept, settings.duplicate_similarity, settings.generation)
        END;
        IF duplicate_of IS NULL THEN
            kept := kept || ids[i];
            kept_scores := kept_scores || scores[i];
        ELSE
            hidden := jsonb_set(hidden, ARRAY[duplicate_of::text], COALESCE(hidden -> duplicate_of::text, '[]') || to_jsonb(ids[i]));
        END IF;
    END LOOP;

    IF settings.mmr_lambda = 1 THEN
        RETURN QUERY
            SELECT o.id, o.place::integer, 0::double precision,
                   ARRAY(SELECT jsonb_array_elements_text(hidden -> o.id::text)::bigint)
            FROM unnest(kept) WITH ORDINALITY o (id, place);
        RETURN;
    END IF;

    size := cardinality(kept);
    similarities := _pgrecall.pairwise_similarity(kept, settings.mmr_similarity = 'words', settings.generation);
    max_similarity := array_fill(0::double precision, ARRAY[size]);
    FOR turn IN 1 .. least(k, size) LOOP
        best := NULL;
        highest_score := NULL;
        FOR i IN 1 .. size LOOP
            CONTINUE WHEN i = ANY (chosen);
            marginal_score := settings.mmr_lambda * COALESCE(kept_scores[i] / NULLIF(kept_scores[1], 0), 0)
                              - (1 - settings.mmr_lambda) * max_similarity[i];
            IF highest_score IS NULL OR marginal_score > highest_score THEN
                best := i;
                highest_score := marginal_score;
            END IF;
        END LOOP;
        chosen := chosen || best;
        id := kept[best];
        place := turn;
        mmr_penalty := (1 - settings.mmr_lambda) * max_similarity[best];
        duplicates := ARRAY(SELECT jsonb_array_elements_text(hidden -> id::text)::bigint);
        RETURN NEXT;
        FOR i IN 1 .. size LOOP
            max_similarity[i] := greatest(max_similarity[i], similarities[(best - 1) * size + i]);
        END LOOP;
    END LOOP;
END
$function$;
