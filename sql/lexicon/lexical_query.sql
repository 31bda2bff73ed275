-- A query as the lexical leg reads it, in the way of the setting lexical_mode.
--
-- bm25, websearch  words with their weights, the rarest first; any_word; the words with more memories than the budget
--                  (common), which are the last; what else a memory has to match (required)
--                  and what a memory scores that holds all of the words (mass)
-- ts_rank, prefix  the narrow tsquery, and the broad one where there is one
-- phrase           the query word for word; NULL if it has fewer than two words, or phrase_bonus is 0
--
-- languages  text-search configurations in which the query is read
-- depth      how long a list the leg is to yield
CREATE OR REPLACE FUNCTION pgrecall.lexical_query(
    namespace_id integer, languages regconfig[], query text, depth integer, settings pgrecall.recall_settings
)
RETURNS pgrecall.lexical_query
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    reading pgrecall.lexical_query;
    terms text[];
    documents integer;
BEGIN
    reading.mode := settings.lexical_mode;
    reading.min_rank := settings.lexical_min_rank;
    reading.importance_share := settings.ts_rank_importance;
    IF settings.phrase_bonus > 0 THEN
        reading.phrase := pgrecall.phrase_words(languages, query);
    END IF;
    IF reading.mode IN ('bm25', 'websearch') THEN
        terms := pgrecall.query_terms(languages, query);
        reading.budget := pgrecall.postings_budget(settings, depth);
        -- As stored, like impact_settings(), which would read them once more.
        reading.impacts := ROW (
            settings.lexical_k1, settings.lexical_b, settings.lexical_length_pivot, settings.field_weight_a,
            settings.field_weight_b, settings.field_weight_c, settings.field_weight_d
        )::pgrecall.impact_settings;
        -- The arguments from a row, so that every plan expects the same of them and one is kept.
        SELECT array_agg(w.term ORDER BY w.documents, w.term), array_agg(w.idf ORDER BY w.documents, w.term),
               array_agg(pgrecall.term_query(w.term)) FILTER (WHERE w.documents > reading.budget),
               -- N of idf = ln((N + 1) / (df + 0.5)), the same for every word; namespace_size() counts changes twice.
               round(max(exp(w.idf) * (w.documents + 0.5)) - 1)::integer
        INTO reading.words, reading.idfs, reading.common, documents
        FROM (SELECT namespace_id AS home, terms AS list, settings.lexical_terms AS most OFFSET 0) a
        CROSS JOIN LATERAL pgrecall.query_words(a.home, a.list, a.most) w;
        reading.any_word := pgrecall.any_term(reading.words);
        reading.mass := pgrecall.query_mass(
            languages, query, terms, reading.words, reading.idfs, documents
        );
        IF reading.mode = 'websearch' THEN
            reading.required := pgrecall.websearch_words(languages, query);
        END IF;
    ELSIF reading.mode = 'prefix' THEN
        reading.narrow := pgrecall.prefix_words(languages, query);
    ELSE
        reading.narrow := pgrecall.every_word(languages, query);
        reading.broad := pgrecall.any_word(languages, query);
    END IF;
    RETURN reading;
END
$function$;

COMMENT ON FUNCTION pgrecall.lexical_query IS
    'A query as the lexical leg reads it: words with their weights, or tsquery forms, by the setting lexical_mode.';
