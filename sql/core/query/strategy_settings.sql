-- Applies the setting strategy to the other settings. The result's strategy is the one that was chosen.
--
--   hybrid     all legs
--   vector     the dense leg only, in the order of the cosine: its score is the cosine, at least 0
--   fulltext   the lexical leg only, in its order
--   prefilter  the lexical leg's memories, in the order of the cosine; fulltext if there is no vector
--   auto       hybrid, or for a literal query (is_exact_query) exact: hybrid with a quarter of the dense leg's weight
--
-- What vector, fulltext and prefilter promise holds unless a setting outside of the legs is changed: importance, age. A statement of the
-- web or a tool still stands behind a trusted one about the same (trusted_statements).
--
-- The lexical modes ts_rank and prefix rank memories with every word before memories with some. Their scores do not
-- show that, so fusion uses ranks (rrf) with them.
--
-- Errors  22023 strategy vector without a vector
CREATE OR REPLACE FUNCTION _pgrecall.strategy_settings(settings pgrecall.recall_settings, query text, has_vector boolean)
RETURNS pgrecall.recall_settings
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    chosen pgrecall.recall_settings := settings;
BEGIN
    IF settings.strategy = 'auto' THEN
        chosen.strategy := CASE WHEN pgrecall.is_exact_query(query) THEN 'exact' ELSE 'hybrid' END;
        IF chosen.strategy = 'exact' THEN
            chosen.dense_weight := settings.dense_weight / 4;
        END IF;
    ELSIF settings.strategy = 'vector' AND NOT has_vector THEN
        RAISE EXCEPTION 'strategy vector needs a query_vec'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass the query''s embedding, or use strategy fulltext.';
    ELSIF settings.strategy = 'prefilter' AND NOT has_vector THEN
        chosen.strategy := 'fulltext';
    END IF;

    IF chosen.strategy IN ('vector', 'fulltext', 'prefilter') THEN
        chosen.graph_weight := 0;
        chosen.session_share := 0;
        chosen.phrase_bonus := 0;
        chosen.question_time := 0;
        chosen.newer_first := false;
        chosen.sparse_share := 0;
        chosen.fusion := 'cc';
        chosen.lexical_weight := CASE WHEN chosen.strategy = 'fulltext' THEN 1::double precision ELSE 0 END;
        chosen.dense_weight := 1 - chosen.lexical_weight;
        chosen.cc_alpha := 0.5;  -- one leg alone has a weight, whatever the share of the other is
        chosen.entity_boost := 1;
        chosen.other_speaker_factor := 1;
    END IF;
    IF chosen.strategy IN ('vector', 'prefilter') THEN
        -- The cosine itself: cut off at the background or above it, memories of different cosines would tie.
        chosen.dense_deviations := 0;
        chosen.passage_penalty := 0;
    END IF;
    IF chosen.lexical_weight > 0 AND chosen.lexical_mode IN ('ts_rank', 'prefix') THEN
        chosen.fusion := 'rrf';
    END IF;
    RETURN chosen;
END
$function$;
