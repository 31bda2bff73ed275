-- Selects the first k of a ranked list. Collapses near-duplicates and applies diversity, according to the settings.
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
    wanted integer := CASE WHEN settings.mmr_lambda < 1 THEN greatest(settings.mmr_pool, k) ELSE k END;
    kept bigint[] := '{}'::bigint[];
    worth double precision[] := '{}'::double precision[];
    hidden jsonb := '{}'::jsonb;
    twin bigint;
    size integer;
    likeness double precision[];
    nearest double precision[];
    chosen integer[] := '{}'::integer[];
    best integer;
    highest double precision;
    marginal double precision;
BEGIN
    IF settings.mmr_lambda = 1 AND NOT settings.collapse_duplicates THEN
        RETURN QUERY
            SELECT o.id, o.place::integer, 0::double precision, '{}'::bigint[]
            FROM unnest(ids[:k]) WITH ORDINALITY o (id, place);
        RETURN;
    END IF;
    FOR spot IN 1 .. COALESCE(cardinality(ids), 0) LOOP
        EXIT WHEN cardinality(kept) >= wanted;
        twin := CASE WHEN settings.collapse_duplicates THEN _pgrecall.near_duplicate_of(ids[spot], kept, settings.duplicate_similarity, settings.generation) END;
        IF twin IS NULL THEN
            kept := kept || ids[spot];
            worth := worth || scores[spot];
        ELSE
            hidden := jsonb_set(hidden, ARRAY[twin::text], COALESCE(hidden -> twin::text, '[]') || to_jsonb(ids[spot]));
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
    likeness := _pgrecall.pairwise_similarity(kept, settings.mmr_similarity = 'words', settings.generation);
    nearest := array_fill(0::double precision, ARRAY[size]);
    FOR turn IN 1 .. least(k, size) LOOP
        best := NULL;
        highest := NULL;
        FOR spot IN 1 .. size LOOP
            CONTINUE WHEN spot = ANY (chosen);
            marginal := settings.mmr_lambda * COALESCE(worth[spot] / NULLIF(worth[1], 0), 0)
                        - (1 - settings.mmr_lambda) * nearest[spot];
            IF highest IS NULL OR marginal > highest THEN
                best := spot;
                highest := marginal;
            END IF;
        END LOOP;
        chosen := chosen || best;
        id := kept[best];
        place := turn;
        mmr_penalty := (1 - settings.mmr_lambda) * nearest[best];
        duplicates := ARRAY(SELECT jsonb_array_elements_text(hidden -> id::text)::bigint);
        RETURN NEXT;
        FOR spot IN 1 .. size LOOP
            nearest[spot] := greatest(nearest[spot], likeness[(best - 1) * size + spot]);
        END LOOP;
    END LOOP;
END
$function$;

COMMENT ON FUNCTION _pgrecall.mmr IS
    'Selects the first k of a ranked list: collapses near-duplicates and applies MMR, according to the settings.';
