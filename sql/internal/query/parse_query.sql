-- A query as the lexical leg reads it, in the way of the setting lexical_mode.
--
-- bm25, websearch  words with their weights, the rarest first; any_word; the words with more memories than the budget
--                  (common), which are the last; what else a memory has to match (required)
--                  and what a memory scores that holds all of the words (max_score)
-- ts_rank, prefix  the narrow tsquery, and the broad one where there is one
-- phrase           the query word for word; NULL if it has fewer than two words, or phrase_bonus is 0
--
-- languages  text-search configurations in which the query is read
-- depth      how long a list the leg is to yield
CREATE OR REPLACE FUNCTION _pgrecall.parse_query(
    namespace_id integer, languages regconfig[], query text, depth integer, settings pgrecall.recall_settings
)
RETURNS pgrecall.parsed_query
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    parsed pgrecall.parsed_query;
    terms text[];
    documents integer;
BEGIN
    parsed.mode := settings.lexical_mode;
    parsed.min_rank := settings.lexical_min_rank;
    parsed.importance_share := settings.ts_rank_importance;
    IF settings.phrase_bonus > 0 THEN
        parsed.phrase := _pgrecall.match_phrase(languages, query);
    END IF;
    IF parsed.mode IN ('bm25', 'websearch') THEN
        terms := _pgrecall.query_terms(languages, query);
        parsed.budget := _pgrecall.postings_limit(settings, depth);
        -- As stored, like impact_settings(), which would read them once more.
        parsed.impacts := ROW (
            settings.bm25_k1, settings.bm25_b, settings.bm25_length_pivot, settings.field_weight_a,
            settings.field_weight_b, settings.field_weight_c, settings.field_weight_d
        )::pgrecall.bm25_parameters;
        -- The arguments from a row, so that every plan expects the same of them and one is kept.
        SELECT array_agg(w.term ORDER BY w.documents, w.term), array_agg(w.idf ORDER BY w.documents, w.term),
               array_agg(_pgrecall.term_query(w.term)) FILTER (WHERE w.documents > parsed.budget),
               -- N of idf = ln((N + 1) / (df + 0.5)), the same for every word; namespace_size() counts changes twice.
               round(max(exp(w.idf) * (w.documents + 0.5)) - 1)::integer
        INTO parsed.words, parsed.idfs, parsed.common, documents
        FROM (SELECT namespace_id AS home, terms AS list, settings.bm25_max_terms AS most OFFSET 0) a
        CROSS JOIN LATERAL _pgrecall.query_term_weights(a.home, a.list, a.most) w;
        parsed.any_word := _pgrecall.match_any_term(parsed.words);
        parsed.max_score := _pgrecall.max_bm25(
            languages, query, terms, parsed.words, parsed.idfs, documents
        );
        IF parsed.mode = 'websearch' THEN
            parsed.required := _pgrecall.match_websearch(languages, query);
        END IF;
    ELSIF parsed.mode = 'prefix' THEN
        parsed.narrow := _pgrecall.match_prefix(languages, query);
    ELSE
        parsed.narrow := _pgrecall.match_all_words(languages, query);
        parsed.broad := _pgrecall.match_any_word(languages, query);
    END IF;
    RETURN parsed;
END
$function$;

COMMENT ON FUNCTION _pgrecall.parse_query IS
    'A query as the lexical leg reads it: words with their weights, or tsquery forms, by the setting lexical_mode.';
