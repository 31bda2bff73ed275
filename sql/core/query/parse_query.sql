-- Parses a query for the lexical leg into words with weights, or into tsqueries, according to the setting lexical_mode.
--
-- bm25, websearch  words and idfs, the rarest first; any_word, which matches any of them; common, one tsquery for each
--                  word with more memories than the budget, which are the last words; required, what else a memory must
--                  match; max_bm25, the score of a memory that holds every word
-- ts_rank, prefix  the narrow tsquery, and the broad one if the mode has one
-- sparse           its words by dimension, for what a sparse model says of memories
-- phrase           matches the query word for word; NULL if it has fewer than two words, or phrase_bonus is 0
--
-- languages  text-search configurations to parse the query in
-- depth      how many memories the leg returns
-- reads_past whether memories that are over may be returned: then the words that only they hold count too
CREATE OR REPLACE FUNCTION _pgrecall.parse_query(
    namespace_id integer, languages regconfig[], query text, depth integer, settings pgrecall.recall_settings,
    reads_past boolean DEFAULT false
)
RETURNS pgrecall.parsed_query
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    parsed pgrecall.parsed_query;
    terms text[];
    value_terms text[];
    documents integer;
    wanted text := query;  -- without what must not match
BEGIN
    parsed.mode := settings.lexical_mode;
    parsed.min_rank := settings.lexical_min_rank;
    parsed.importance_share := settings.ts_rank_importance;
    IF settings.phrase_bonus > 0 THEN
        parsed.phrase := _pgrecall.match_phrase(languages, query);
    END IF;
    IF parsed.mode IN ('bm25', 'websearch') THEN
        IF parsed.mode = 'websearch' THEN
            wanted := _pgrecall.wanted_text(query);
        END IF;
        terms := _pgrecall.query_terms(languages, wanted);
        value_terms := _pgrecall.query_values(languages, wanted);
        IF value_terms IS NOT NULL THEN
            value_terms := ARRAY(SELECT v.term FROM unnest(value_terms) v (term) WHERE v.term <> ALL (terms));
        END IF;
        parsed.budget := _pgrecall.postings_limit(settings, depth);
        -- The stored values, as in bm25_parameters(), which would read them again.
        parsed.impacts := ROW (
            settings.bm25_k1, settings.bm25_b, settings.bm25_length_pivot, settings.field_weight_a,
            settings.field_weight_b, settings.field_weight_c, settings.field_weight_d
        )::pgrecall.bm25_parameters;
        -- The arguments come from a row: the planner then estimates every call alike and keeps one generic plan.
        SELECT array_agg(w.term ORDER BY w.longest > parsed.budget, w.documents, w.term),
               array_agg(w.idf ORDER BY w.longest > parsed.budget, w.documents, w.term),
               array_agg(_pgrecall.term_query(w.term)) FILTER (WHERE w.longest > parsed.budget),
               -- N from idf = ln((N + 1) / (df + 0.5)), the same for every word; namespace_size() counts changes twice.
               round(max(exp(w.idf) * (w.documents + 0.5)) - 1)::integer
        INTO parsed.words, parsed.idfs, parsed.common, documents
        FROM (SELECT namespace_id AS ns, terms || value_terms AS term_list,
                     settings.bm25_max_terms AS max_terms, reads_past AS past OFFSET 0) a
        CROSS JOIN LATERAL _pgrecall.query_term_weights(a.ns, a.term_list, a.max_terms, a.past) w;
        parsed.any_word := _pgrecall.match_any_term(parsed.words);
        parsed.max_bm25 := _pgrecall.max_bm25(
            languages, wanted, terms, parsed.words, parsed.idfs, documents, settings.bm25_max_terms
        );
        IF settings.sparse_share > 0 THEN
            parsed.sparse := _pgrecall.sparse_query(namespace_id, terms, parsed.words, parsed.idfs, documents, settings.bm25_max_terms);
        END IF;
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
